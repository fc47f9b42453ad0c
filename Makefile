PYTHON ?= python3
BIN := .venv/bin
EXTRAS := dev,torchvision,smp,hf,onnx,judge
ZOO := cnn-normal transformer-normal unet-normal cnn-normal-no-grain cnn-pgd-at-50 cnn-pgd-at-100 cnn-segpgd-at-100 \
  cnn-ddc-at transformer-pgd-at-100 cnn-pgd-at-50-no-grain

.PHONY: install demo test test-all lint bench chromium zoo clean

# Two stamps: the demo needs the package alone, tests and lint need the tools and the optional frameworks too.
.venv/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

.venv/dev: .venv/core
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[$(EXTRAS)]'
	touch $@

install: .venv/dev

demo: .venv/core
	$(BIN)/segstress demo

test: .venv/dev chromium
	$(BIN)/pytest -n 2 -m 'not slow'

test-all: .venv/dev chromium
	$(BIN)/pytest -n 2

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/dev
	for script in bench/[a-z]*.py; do $(BIN)/python $$script || exit 1; done

# The browser tests open reports in Debian's Chromium; without it they are skipped, and this says so.
chromium:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } \
	  || echo "chromium could not be installed (needs Debian's packages and root): the browser tests will be skipped"

# Trains all embedded checkpoints anew, those first that others begin with, then the normal ones from other seeds (of
# first weights, order and crops), on which claims about an order rest; run it again to resume.
zoo: .venv/core
	for name in $(ZOO); do $(BIN)/segstress train $$name --out runs/zoo/$$name \
	  --save-as src/segstress/zoo/$$name.safetensors || exit 1; done
	for seed in 1 2; do for kind in cnn transformer; do name=$$kind-normal-seed-$$seed; \
	  $(BIN)/segstress train $$kind-normal --model "compact:$$kind?seed=$$seed" --seed $$seed --out runs/zoo/$$name \
	  --save-as src/segstress/zoo/$$name.safetensors || exit 1; done; done

clean:
	rm -rf .venv runs dist
