PYTHON ?= python3
BIN := .venv/bin
EXTRAS := dev,torchvision,smp,hf,onnx,mmseg,tiff,judge,ray
# The embedded checkpoints: normal ones, those that begin with them, and those that the findings rest on: normal ones of
# three seeds, and trainings that differ in one thing, of the same seeds.
NORMAL := cnn-normal transformer-normal unet-normal cnn-normal-no-grain
ROBUST := cnn-pgd-at-50 cnn-pgd-at-100 cnn-segpgd-at-100 cnn-ddc-at transformer-pgd-at-100 cnn-pgd-at-50-no-grain
SEEDS := 3 4 5
seeded = $(foreach plan,$(1),$(foreach seed,$(SEEDS),$(plan)-seed-$(seed)))
SEEDED := $(call seeded,cnn-normal transformer-normal cnn-normal-no-grain)
MATCHED := $(call seeded,$(addprefix matched-,pgd-at-50 segpgd-at-50 pgd-at-100 segpgd-at-100 annealed-at))
MATCHED_NO_GRAIN := $(call seeded,matched-pgd-at-50-no-grain)
MATCHED_PIR := $(call seeded,matched-pir-at)
MATCHED_CLEAN := $(call seeded,matched-clean-init-at)
ZOO := $(addprefix zoo-,$(NORMAL) $(ROBUST) $(SEEDED) $(MATCHED) $(MATCHED_NO_GRAIN) $(MATCHED_PIR) $(MATCHED_CLEAN))

BOARD_IMAGES ?= 4

.PHONY: install demo board docs test test-all s3 lint bench faults mutants chromium zoo $(ZOO) clean

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

# The embedded models beside each other under the first-look battery; BOARD_IMAGES=24 takes as much longer.
board: .venv/core
	$(BIN)/segstress attack $(foreach model,$(NORMAL) $(ROBUST),--model compact:$(model)) --data shapes:test \
	  --battery quick --eps 8/255 --limit $(BOARD_IMAGES) --out runs/board-$(BOARD_IMAGES)
	$(BIN)/segstress board runs/board-$(BOARD_IMAGES) --out site --title "The embedded models"

test: .venv/dev chromium
	$(BIN)/pytest -n 2 -m 'not slow'

test-all: .venv/dev chromium
	$(BIN)/pytest -n 2

# Runs, data and weights at addresses, against moto's S3 server on loopback, in an environment of its own: botocore wants an
# older python-dateutil than the constraints have.
.venv/s3: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv/environment-s3
	grep -v '^python-dateutil' constraints.txt >.venv/constraints-s3.txt
	.venv/environment-s3/bin/pip install --quiet --disable-pip-version-check --constraint .venv/constraints-s3.txt --editable '.[moto,judge,dev]'
	touch $@

s3: .venv/core .venv/s3
	.venv/environment-s3/bin/pytest tests/rooms/data/test_remote.py tests/walks/test_addresses.py

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Without those that have a target of their own.
bench: .venv/dev
	for script in $(filter-out bench/faults.py bench/ray_kills.py bench/mutants.py bench/planting.py,$(wildcard bench/[a-z]*.py)); do $(BIN)/python $$script || exit 1; done

# Kills, damages and fuzzes small runs, kills those on Ray; KILLS=3 FLIPS=20 RAY_KILLS=1 makes it short.
faults: .venv/dev
	$(BIN)/python bench/faults.py --kills $(or $(KILLS),30) --flips $(or $(FLIPS),500)
	$(BIN)/python bench/ray_kills.py --kills $(or $(RAY_KILLS),10)

# The pages as a site: README, the project's papers and docs/ in one tree, so that links lead where they do in the source.
docs: .venv/core
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python docs/write_tables.py --check
	$(BIN)/python docs/write_examples.py --check
	rm -rf dist/pages && mkdir -p dist/pages
	cp -r README.md CHANGELOG.md CONTRIBUTING.md CITATION.cff LICENSE docs dist/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Plants the bugs of bench/mutants.yaml one by one and prints the share that turns a test red; ONLY=alma plants a few.
mutants: .venv/dev
	$(BIN)/python bench/mutants.py --only '$(ONLY)'

# The browser tests open reports in Debian's Chromium; without it they are skipped, and this says so.
chromium:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } \
	  || echo "chromium could not be installed (needs Debian's packages and root): the browser tests will be skipped"

# Trains all embedded checkpoints anew, two at a time; run it again to resume. Claims about an order rest on several
# seeds, of first weights, order and crops.
zoo: .venv/core
	$(MAKE) --jobs 2 $(ZOO)

TRAIN = $(BIN)/segstress train $(1) --out runs/zoo/$* --save-as src/segstress/zoo/$*.safetensors

$(addprefix zoo-cnn,-pgd-at-50 -pgd-at-100 -segpgd-at-100 -ddc-at): zoo-cnn-normal
zoo-transformer-pgd-at-100: zoo-transformer-normal
zoo-cnn-pgd-at-50-no-grain: zoo-cnn-normal-no-grain

$(addprefix zoo-,$(NORMAL) $(ROBUST)): zoo-%:
	$(call TRAIN,$*)

$(addprefix zoo-,$(SEEDED)): zoo-%:
	$(call TRAIN,$(firstword $(subst -seed-, ,$*)) --model 'compact:$(firstword $(subst -, ,$*))?seed=$(lastword $(subst -, ,$*))' \
	  --seed $(lastword $(subst -, ,$*)))

# A matched model of seed k begins with the normal network of that seed; two recipes with its features alone.
plan_of = $(firstword $(subst -seed-, ,$(1)))
seed_of = $(lastword $(subst -seed-, ,$(1)))
SEED = --seed $(call seed_of,$*)
FRESH = $(SEED) --model 'compact:cnn?seed=$(call seed_of,$*)' --backbone compact:$(1)-seed-$(call seed_of,$*)

$(addprefix zoo-,$(MATCHED)): zoo-%: $(addprefix zoo-,$(call seeded,cnn-normal))
	$(call TRAIN,$(call plan_of,$*) $(SEED) --start compact:cnn-normal-seed-$(call seed_of,$*))

$(addprefix zoo-,$(MATCHED_NO_GRAIN)): zoo-%: $(addprefix zoo-,$(call seeded,cnn-normal-no-grain))
	$(call TRAIN,$(call plan_of,$*) $(SEED) --start compact:cnn-normal-no-grain-seed-$(call seed_of,$*))

$(addprefix zoo-,$(MATCHED_PIR)): zoo-%: $(addprefix zoo-,$(call seeded,matched-pgd-at-100))
	$(call TRAIN,$(call plan_of,$*) $(call FRESH,matched-pgd-at-100))

$(addprefix zoo-,$(MATCHED_CLEAN)): zoo-%: $(addprefix zoo-,$(call seeded,cnn-normal))
	$(call TRAIN,$(call plan_of,$*) $(call FRESH,cnn-normal))

clean:
	rm -rf .venv runs dist site
