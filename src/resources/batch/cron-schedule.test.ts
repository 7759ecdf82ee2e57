// Schedules that cron reads and those that it does not, and names of time zones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scheduleProblem } from './cron-schedule.js'
import { isTimeZone } from './time-zone.js'

const rules = { isTimeZone, isDuration: (text: string) => /^\d+[smh]$/.test(text) }

const rows: readonly { readonly schedule: string; readonly problem?: string }[] = [
  { schedule: '*/5 * * * *' },
  { schedule: '0 0 1,15 * mon-fri' },
  { schedule: '0-30/10,45 9-17 ? JAN-dec 0' },
  { schedule: '5/15 * * * *' },
  { schedule: '  0   0 * * *  ' },
  { schedule: '@hourly' },
  { schedule: '@every 5m' },
  { schedule: 'TZ=UTC 0 0 * * *' },
  { schedule: 'CRON_TZ=Europe/Paris @daily' },
  { schedule: 'every day', problem: 'expected exactly 5 fields, found 2: [every day]' },
  { schedule: '0 0 * * * *', problem: 'expected exactly 5 fields, found 6: [0 0 * * * *]' },
  { schedule: '60 * * * *', problem: 'end of range (60) above maximum (59): 60' },
  { schedule: '* * 0 * *', problem: 'beginning of range (0) below minimum (1): 0' },
  { schedule: '* * * * 7', problem: 'end of range (7) above maximum (6): 7' },
  { schedule: '9-5 * * * *', problem: 'beginning of range (9) beyond end of range (5): 9-5' },
  { schedule: '*/0 * * * *', problem: 'step of range should be a positive number: */0' },
  { schedule: '1-2-3 * * * *', problem: 'too many hyphens: 1-2-3' },
  { schedule: '*/2/3 * * * *', problem: 'too many slashes: */2/3' },
  { schedule: 'x * * * *', problem: 'failed to parse int from x' },
  { schedule: '*/x * * * *', problem: 'failed to parse int from x' },
  { schedule: '@sometimes', problem: 'unrecognized descriptor: @sometimes' },
  { schedule: '@every now', problem: 'failed to parse duration @every now' },
  { schedule: 'TZ=Mars/Base 0 0 * * *', problem: 'provided bad location Mars/Base: unknown time zone Mars/Base' },
  { schedule: 'TZ=UTC', problem: 'empty spec string' },
]
for (const { schedule, problem } of rows) {
  test(`the schedule ${schedule} ${problem === undefined ? 'is read' : 'is not read'}`, () =>
    assert.equal(scheduleProblem(schedule, rules), problem))
}

const zones: readonly { readonly name: string; readonly known: boolean }[] = [
  { name: 'UTC', known: true },
  { name: 'Local', known: true },
  { name: 'Europe/Paris', known: true },
  { name: 'America/Argentina/Buenos_Aires', known: true },
  { name: 'Etc/GMT+3', known: true },
  { name: 'Asia/Calcutta', known: true },
  { name: 'europe/paris', known: false },
  { name: 'Mars/Base', known: false },
  { name: '+01:00', known: false },
  { name: '../etc/passwd', known: false },
]
for (const { name, known } of zones) {
  test(`${name} is ${known ? '' : 'not '}a time zone`, () => assert.deepEqual([isTimeZone(name), isTimeZone(name)], [known, known]))
}
