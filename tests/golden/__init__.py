"""Outputs that a move must not change: deltas of every attack, changes of every corruption, tables of small runs.

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
- Later, for the same reason (issue 14, item 8): segpgd, cospgd and mi-fgsm return their last iterate, apgd-dlr the one
  of the highest loss, one image for every figure (keep=best is what they were); ddn is as published, and what it was is
  stored, byte-equal, as ddn-auto. In the tables only that name changed, and `about` says what pgd keeps.
- The rest of the plain steps and APGD became literal (issue 14, item 8): fgsm, bim, pgd-region and pgd-region-released
  return their last iterate, apgd that of the highest loss (keep=best is what they were); bim takes steps of 1/255,
  segpgd and cospgd of 0.01 (step=null is what they were), pgd-region 50 of them. rp-pgd, which never had the paper's
  prototypes, is called pgd-rp, byte-equal. In the tables nothing changed.
- The table `standing` is called `pixels_right`, also as a key of the summary; a contest's standing.json is
  ranking.json, and its `judged_by` is `scored_by`.
- The table `minimal-finds` is called `minimal-results`.
- success_8bit is called success_rounded: 16-bit sources are rounded to 16 bits (issue 15).
- annealed-border and annealed-border-plain: the slopes of the annealed losses are worked out by hand, equal to
  autograd's up to rounding (test_annealed.py), which turns signs of nought there; sizes stayed.
- Images per pass follow a rule of pixels and parameters (issue 15), four for these runs where there was one: margins of
  standing pixels, times of attempts and sizes of smallest changes differ in their last places.
- Medians of smallest changes have bounds, none for so few images; leave-one-out is told of exhaustive runs only
  (issue 18).
- Intervals are studentized (issue 16): bounds of every table that shows some are wider, most of all on two images.
- All severities of a corruption share an image's draws (issue 19): snow and fog of `spatial` are drawn anew, and its
  table `overview` has intervals. The tables of `attack` have one more figure, nmiou_truth. New: pgd-13x4x10 and
  pgd-dlr-13x4x10.
- Ids of a competition's images have 128 bits of their content's hash where they had 64 (issue 17): longer ids in the
  table `members` of `mad`, and nothing else. Its models now see four images at a time; no table changed by that.
- The tables of `spatial` have intervals everywhere, so that scores and overview have more columns (issue 18); values
  stayed. New: all-corruptions (issue 19). provenance is not stored: it names the machine.
- CE in all-corruptions has its interval (issue 18): two more columns for each reference; values stayed.
- The tables of `attack` have one more figure, nmiou_zero_foreground, NmIoU with background counted as 0 (issue 19);
  values stayed.
- Out/in in `scores` of `spatial` has its interval (issue 19): two more columns; values stayed.
- Bracketed searches as released answer with their round's own image, take every round, draw later starts from the whole
  ball and hand over the clean image on failure (issue 19): pgd-13x40, pgd-dlr-13x40, pgd-13x4x10, pgd-dlr-13x4x10,
  ifgsm-13x20 and mifgsm-13x20; no other delta changed, and no table.
- All severities of shot_noise read their counts off one uniform number for each sample, and impulse_noise takes white
  from the other end of its draw than black, so that damage grows between severities in one piece: the changes of these
  two, and no other.
"""
