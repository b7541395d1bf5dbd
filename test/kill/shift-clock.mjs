/**
 * Preloaded into a process by `--import`: its calendar is off by CLOCK_SHIFT_MS from the first line of the program on.
 * What measures time and not the calendar (`performance.now()`, timers) goes on as usual, as on a machine whose date is
 * wrong.
 */
const shiftMs = Number(process.env.CLOCK_SHIFT_MS)
const RightDate = Date

globalThis.Date = class Date extends RightDate {
  constructor(...args) {
    if (args.length === 0) super(RightDate.now() + shiftMs)
    else super(...args)
  }

  static now() {
    return RightDate.now() + shiftMs
  }
}
