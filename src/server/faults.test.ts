// Errors that nobody caught: which of them end the process.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { silentLogger } from '../base/logger.js'
import { watchFaults } from './faults.js'

for (const row of [
  { name: 'an exception', event: 'uncaughtException', error: new Error('half done'), isEnd: true, level: 'error' },
  { name: 'something that is no error', event: 'uncaughtException', error: undefined, isEnd: true, level: 'error' },
  {
    name: 'a broken connection',
    event: 'uncaughtException',
    error: Object.assign(new Error(), { code: 'EPIPE' }),
    isEnd: false,
    level: 'warn',
  },
  { name: 'a rejected promise', event: 'unhandledRejection', error: new Error('nobody waits'), isEnd: false, level: 'error' },
]) {
  test(`fault: ${row.name}`, () => {
    const source = new EventEmitter()
    const logged: string[] = []
    let isEnd = false
    const logger = { ...silentLogger, warn: () => void logged.push('warn'), error: () => void logged.push('error') }
    watchFaults(source, logger, () => {
      isEnd = true
    })
    source.emit(row.event, row.error)
    assert.equal(isEnd, row.isEnd)
    assert.deepEqual(logged, [row.level])
  })
}
