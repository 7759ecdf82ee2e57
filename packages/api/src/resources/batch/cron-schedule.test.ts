// Tests of the cron schedule parser and of time zone names.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone, scheduleProblem } from './cron-schedule.js'

const rows: readonly (readonly [schedule: string, problem?: string | undefined])[] = [
  ['*/5 * * * *'],
  ['0 0 1,15 * mon-fri'],
  ['0-30/10,45 9-17 ? JAN-dec 0'],
  ['5/15 * * * *'],
  ['  0   0 * * *  '],
  ['@hourly'],
  ['@every 5m'],
  ['TZ=UTC 0 0 * * *'],
  ['CRON_TZ=Europe/Paris @daily'],
  ['every day', 'expected exactly 5 fields, found 2: [every day]'],
  ['0 0 * * * *', 'expected exactly 5 fields, found 6: [0 0 * * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['9-5 * * * *', 'beginning of range (9) beyond end of range (5): 9-5'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['*/2/3 * * * *', 'too many slashes: */2/3'],
  ['x * * * *', 'failed to parse int from x'],
  ['*/x * * * *', 'failed to parse int from x'],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
  ['@every now', 'failed to parse duration @every now'],
  ['TZ=Mars/Base 0 0 * * *', 'provided bad location Mars/Base: unknown time zone Mars/Base'],
  ['TZ=UTC', 'empty spec string'],
]
for (const [schedule, problem] of rows) {
  test(`the schedule ${schedule} ${problem === undefined ? 'is accepted' : 'is rejected'}`, () =>
    assert.equal(scheduleProblem(schedule), problem))
}

const zones: readonly (readonly [name: string, known: boolean])[] = [
  ['UTC', true],
  ['Local', true],
  ['Europe/Paris', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Etc/GMT+3', true],
  ['Asia/Calcutta', true],
  ['europe/paris', false],
  ['Mars/Base', false],
  ['+01:00', false],
  ['../etc/passwd', false],
]
for (const [name, known] of zones) {
  test(`${name} is ${known ? '' : 'not '}a time zone`, () => assert.deepEqual([isTimeZone(name), isTimeZone(name)], [known, known]))
}
