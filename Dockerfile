# docker build -t segstress . && docker run --rm -v "$PWD/runs:/work/runs" segstress demo
#
# By default pip's own choice of torch on a plain Python image; it runs on the CPU. For CUDA, or for the smaller wheels
# of the CPU alone, say where torch's wheels are, and which image has the driver's libraries:
#   docker build --build-arg BASE=<image with Python 3.11 and CUDA> --build-arg TORCH_INDEX=<index of its wheels> .
ARG BASE=python:3.11-slim
FROM ${BASE}
ARG TORCH_INDEX=""
ARG EXTRAS=""
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$(grep '^torch==' constraints.txt)" \
 && pip install --no-cache-dir --constraint constraints.txt ".${EXTRAS:+[$EXTRAS]}" \
 && useradd --create-home stress && mkdir /work && chown stress /work
USER stress
WORKDIR /work
ENTRYPOINT ["segstress"]
CMD ["--help"]
