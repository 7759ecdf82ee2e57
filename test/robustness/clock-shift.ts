// Loaded into a server (NODE_OPTIONS=--import): SIGUSR2 shifts its wall clock by the milliseconds in CLOCK_SHIFT_FILE.

import { readFileSync } from 'node:fs'

const file = process.env['CLOCK_SHIFT_FILE']
let shiftMs = 0

if (file !== undefined) {
  const realNow = Date.now.bind(Date)
  const shiftedNow = (): number => realNow() + shiftMs
  const RealDate = Date
  // `new Date()` without arguments must agree with `Date.now()`.
  class ShiftedDate extends RealDate {
    constructor(...input: [] | [value: number | string | Date]) {
      super(input.length === 0 ? shiftedNow() : (input[0] as number))
    }
    static override now(): number {
      return shiftedNow()
    }
  }
  globalThis.Date = ShiftedDate as DateConstructor
  process.on('SIGUSR2', () => {
    shiftMs = Number(readFileSync(file, 'utf8'))
  })
}
