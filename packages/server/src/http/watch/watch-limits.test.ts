// Limits on open watches: in total, per user, by selector requirements and by URL length.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mastersGroup, type User } from '@cluster-apiserver/api/api/user.js'
import { OverloadedError } from '../../flow-control/memory-pressure.js'
import { WatchLimits } from './watch-limits.js'

const user = (name: string, ...groups: readonly string[]): User => ({ name, uid: '', groups, extra: {} })
const admin = user('admin', mastersGroup)

test('watches beyond the limit are refused until one is closed', () => {
  const limits = new WatchLimits(2)
  const closeCallbacks: (() => void)[] = []
  const exchange = { user: admin, onClose: (call: () => void) => void closeCallbacks.push(call) }
  limits.enter(exchange)
  limits.enter(exchange)
  assert.throws(() => limits.enter(exchange), OverloadedError)
  closeCallbacks[0]?.()
  limits.enter(exchange)
  assert.equal(limits.open, 2)
})

test('one user may have half of the watches, system:masters all', () => {
  const limits = new WatchLimits(100)
  const closeCallbacks: (() => void)[] = []
  const exchangeOf = (sender: User) => ({ user: sender, onClose: (call: () => void) => void closeCallbacks.push(call) })
  for (let i = 0; i < 50; i++) limits.enter(exchangeOf(user('mallory')))
  for (let i = 0; i < 500; i++) {
    assert.throws(() => limits.enter(exchangeOf(user('mallory'))), {
      message: /user "mallory" has 50 watches open, which is as many as one user may/,
    })
  }
  limits.enter(exchangeOf(user('alice')))
  closeCallbacks.shift()?.()
  limits.enter(exchangeOf(user('mallory')))
  for (const close of closeCallbacks.splice(0)) close()
  assert.equal(limits.open, 0)
  for (let i = 0; i < 100; i++) limits.enter(exchangeOf(admin))
  assert.equal(limits.open, 100)
})

test('the total of selector requirements is limited; watches with small selectors are not counted', () => {
  const limits = new WatchLimits(1000)
  const closeCallbacks: (() => void)[] = []
  const exchange = { user: admin, onClose: (call: () => void) => void closeCallbacks.push(call) }
  for (let i = 0; i < 20; i++) limits.enter(exchange, { requirements: 10_000 })
  for (let i = 0; i < 200; i++) assert.throws(() => limits.enter(exchange, { requirements: 10_000 }), OverloadedError)
  for (let i = 0; i < 100; i++) limits.enter(exchange, { requirements: 16 })
  closeCallbacks[0]?.()
  limits.enter(exchange, { requirements: 10_000 })
  assert.equal(limits.open, 120)
})

test('the total of URL bytes is limited; watches with short URLs are not counted', () => {
  const limits = new WatchLimits(20_000)
  const closeCallbacks: (() => void)[] = []
  const exchange = { user: admin, onClose: (call: () => void) => void closeCallbacks.push(call) }
  for (let i = 0; i < 1024; i++) limits.enter(exchange, { bytes: 64 << 10 })
  for (let i = 0; i < 10_240; i++) assert.throws(() => limits.enter(exchange, { bytes: 64 << 10 }), OverloadedError)
  limits.enter(exchange, { bytes: 4 << 10 })
  closeCallbacks[0]?.()
  limits.enter(exchange, { bytes: 64 << 10 })
  assert.equal(limits.open, 1025)
})
