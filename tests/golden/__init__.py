"""Outputs that a move must not change: deltas of every attack on toy problems, tables of small runs.

`python -m tests.golden` compares what is made now with what is stored, byte for byte; `--renew` stores it anew, and the
commit that does so says why. The tests compare to a tolerance, since another processor rounds differently. Give it an
absolute PYTHONPATH, since the tables are made in other folders.

Changes:

- A paper's name became what the paper published (issue 14, item 8). These deltas changed, each for its preset:
  sea-mce, sea-bce, sea-jsd, sea-msl, sea-mce-bal (the iterate with the fewest right pixels only, the newest of equals,
  the first comparison against zero; sea-mce-bal also by the weights of a split), tsallis (so too, and stages linked by
  the highest loss), padam-ce, padam-cos (mean over pixels, last iterate), alma-prox, pdpgd, pdgd, fmn (published rates,
  smallest delta clamped, no polish), dag (so too, equal steps, the clean image on failure), asma (1e-7 and 1e-6 x IoU).
  What they were is stored, byte-equal, under our names: progressive-* for sea-* and tsallis (also -cos, -margin, -rp,
  -rp-bal, which SEA never had), padam for padam-ce, <name>-auto for the minimal ones. New: pgd-13x40, pgd-dlr-13x40,
  ifgsm-13x20, mifgsm-13x20. In the tables only names changed.
- The table `minimal-finds` is called `minimal-results`.
- annealed-border and annealed-border-plain: the slopes of the annealed losses are worked out by hand, equal to
  autograd's up to rounding (test_annealed.py), which turns signs of nought there; sizes stayed.
"""
