// Encryption at rest: encrypted values in the engine, decrypted reads, key rotation, wrong keys.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { openMemoryStorage } from '../memory/memory-storage.js'
import type { Change, Storage } from '../storage.js'
import { isEncrypted } from '../storage.js'
import { cipherOf, type Method } from './ciphers.js'
import { EncryptedStorage } from './encrypted-storage.js'
import { DecryptionError, type EncryptionRules, type Provider } from './encryption-providers.js'

const cipher = (method: Method, name: string, bytes = 32): Provider => cipherOf(method, { name, secret: randomBytes(bytes) })
const rulesOf = (...providers: Provider[]): EncryptionRules => new Map([['secrets', providers]])
const secretsRange = { start: 'secrets/', end: 'secrets0' }
const plaintext = Buffer.from('the plain text of a secret')

async function put(storage: Storage, key: string, value: Buffer): Promise<number> {
  const outcome = await storage.commit([{ key, value, expect: undefined }])
  assert.ok(outcome.ok)
  return outcome.revision
}

function setUp(...providers: Provider[]) {
  const inner = openMemoryStorage()
  return { inner, storage: new EncryptedStorage({ storage: inner, rules: rulesOf(...providers), logger: silentLogger }) }
}

for (const method of ['aesgcm', 'aescbc'] as const)
  for (const bytes of [16, 24, 32])
    test(`${method} with ${bytes * 8} bits: stored values are encrypted, and all reads decrypt them`, async () => {
      const { inner, storage } = setUp(cipher(method, 'one', bytes))
      const seen: Change[] = []
      const unfollow = storage.follow((changes) => void seen.push(...changes))
      const first = await put(storage, 'secrets/a/x', plaintext)
      await put(storage, 'secrets/a/x', Buffer.from('another'))
      await put(storage, 'configmaps/a/x', plaintext)
      unfollow()
      for (const { value } of [
        ...inner.range({ ...secretsRange, limit: 9 }).entries,
        ...inner.range({ ...secretsRange, limit: 9, at: first }).entries,
      ]) {
        assert.ok(isEncrypted(value))
        assert.ok(!value.includes('plain') && !value.includes('another'))
      }
      assert.deepEqual(inner.read('configmaps/a/x')?.value, plaintext)
      assert.equal(storage.read('secrets/a/x')?.value.toString(), 'another')
      assert.deepEqual(storage.range({ ...secretsRange, limit: 9, at: first }).entries[0]?.value, plaintext)
      const scanned: string[] = []
      storage.scan({ start: 'a', end: 'z' }, ({ key, bytes: entryBytes, start, end }) => {
        scanned.push(`${key}=${Buffer.from(entryBytes.subarray(start, end))}`)
        return true
      })
      assert.deepEqual(scanned, [`configmaps/a/x=${plaintext}`, 'secrets/a/x=another'])
      const { changes } = storage.changes({ ...secretsRange, after: 0, limit: 9 })
      assert.deepEqual(
        changes.map(({ value, previous }) => [value?.toString(), previous?.value.toString()]),
        [
          [String(plaintext), undefined],
          ['another', String(plaintext)],
        ],
      )
      assert.deepEqual(seen.slice(0, 2), changes)
      const refused = await storage.commit([{ key: 'secrets/a/x', value: plaintext, expect: 0 }])
      assert.equal(refused.ok ? '' : refused.current?.value.toString(), 'another')
    })

test('the same value is encrypted differently each time', async () => {
  const { inner, storage } = setUp(cipher('aesgcm', 'one'))
  await put(storage, 'secrets/a', plaintext)
  await put(storage, 'secrets/b', plaintext)
  assert.notDeepEqual(inner.read('secrets/a')?.value, inner.read('secrets/b')?.value)
})

test('a value with a key that another process used first is read after a look for newer rules', async () => {
  const [older, newer] = [cipher('aesgcm', 'older'), cipher('aesgcm', 'newer')]
  const inner = openMemoryStorage()
  const writer = new EncryptedStorage({ storage: inner, rules: rulesOf(newer, older), logger: silentLogger })
  const refresh = (): void => reader.setRules(rulesOf(newer, older))
  const reader: EncryptedStorage = new EncryptedStorage({ storage: inner, rules: rulesOf(older), logger: silentLogger, refresh })
  const seen: (string | undefined)[] = []
  const gaps: boolean[] = []
  reader.follow((changes, hasGap) => {
    seen.push(...changes.map(({ value }) => value?.toString()))
    gaps.push(hasGap)
  })
  await put(writer, 'secrets/a', plaintext)
  assert.deepEqual([seen, gaps], [[String(plaintext)], [false]])
  reader.setRules(rulesOf(older))
  assert.deepEqual(reader.read('secrets/a')?.value, plaintext)
})

test('after a key rotation old values are readable and stale, and new ones use the first key', async () => {
  const [older, newer] = [cipher('aesgcm', 'older'), cipher('aesgcm', 'newer')]
  const { inner, storage } = setUp(older)
  await put(storage, 'secrets/a', plaintext)
  assert.equal(storage.isStale('secrets/a'), false)
  storage.setRules(rulesOf(newer, older))
  assert.deepEqual(storage.read('secrets/a')?.value, plaintext)
  assert.equal(storage.isStale('secrets/a'), true)
  await put(storage, 'secrets/a', plaintext)
  assert.equal(storage.isStale('secrets/a'), false)
  assert.ok(inner.read('secrets/a')?.value.includes('newer'))
  storage.setRules(rulesOf(newer))
  assert.deepEqual(storage.read('secrets/a')?.value, plaintext)
})

test('keys with the same name in two providers: a value is decrypted with the right one', async () => {
  const [old, next] = [cipher('aesgcm', 'key1'), cipher('aesgcm', 'key1')]
  const { inner, storage } = setUp(old)
  await put(storage, 'secrets/a/x', plaintext)
  const changed = new EncryptedStorage({ storage: inner, rules: rulesOf(next, old), logger: silentLogger })
  await put(changed, 'secrets/a/y', plaintext)
  assert.deepEqual([changed.read('secrets/a/x')?.value, changed.read('secrets/a/y')?.value], [plaintext, plaintext])
})

test('encryption is turned on and off with the identity provider', async () => {
  const key = cipher('aesgcm', 'one')
  const { inner, storage } = setUp(undefined)
  await put(storage, 'secrets/a', plaintext)
  assert.deepEqual(inner.read('secrets/a')?.value, plaintext)
  storage.setRules(rulesOf(key, undefined))
  assert.equal(storage.isStale('secrets/a'), true)
  await put(storage, 'secrets/a', plaintext)
  storage.setRules(rulesOf(undefined, key))
  assert.deepEqual(storage.read('secrets/a')?.value, plaintext)
  assert.equal(storage.isStale('secrets/a'), true)
})

const wrongKeys: readonly { readonly title: string; readonly rules: EncryptionRules; readonly message: RegExp }[] = [
  {
    title: 'the key is missing',
    rules: rulesOf(cipher('aesgcm', 'two')),
    message: /secrets\/a cannot be decrypted: there is no key for aesgcm key "one"/,
  },
  { title: 'another key has the same name', rules: rulesOf(cipher('aesgcm', 'one')), message: /cannot be decrypted with aesgcm key "one"/ },
  { title: 'only the identity provider is configured', rules: rulesOf(undefined), message: /there is no key for aesgcm key "one"/ },
]
for (const { title, rules, message } of wrongKeys)
  test(`${title}: reads fail with the reason, watches get a gap, and other collections are readable`, async () => {
    const { storage } = setUp(cipher('aesgcm', 'one'))
    await put(storage, 'secrets/a', plaintext)
    await put(storage, 'configmaps/a', plaintext)
    storage.setRules(rules)
    assert.throws(
      () => storage.read('secrets/a'),
      (thrown) => thrown instanceof DecryptionError && message.test(thrown.message),
    )
    assert.throws(() => storage.range({ ...secretsRange, limit: 1 }), DecryptionError)
    assert.throws(() => storage.changes({ ...secretsRange, after: 0, limit: 1 }), DecryptionError)
    assert.deepEqual(storage.read('configmaps/a')?.value, plaintext)
    const gaps: boolean[] = []
    const keys: string[] = []
    storage.follow((changes, hasGap) => {
      gaps.push(hasGap)
      keys.push(...changes.map(({ key }) => key))
    })
    await put(storage, 'secrets/a', plaintext)
    await put(storage, 'configmaps/a', plaintext)
    assert.deepEqual(gaps, [true, false])
    assert.deepEqual(keys, ['secrets/a', 'configmaps/a'], 'caches are notified of every change')
  })

test('a value that was copied to another key, changed or truncated cannot be decrypted', async () => {
  const { inner, storage } = setUp(cipher('aesgcm', 'one'))
  await put(storage, 'secrets/a', plaintext)
  const encrypted = inner.read('secrets/a')?.value as Buffer
  const changed = Buffer.from(encrypted)
  changed[changed.length - 20] = (changed[changed.length - 20] ?? 0) ^ 1
  for (const value of [encrypted, changed, encrypted.subarray(0, -1), encrypted.subarray(0, 20)]) {
    await put(inner, 'secrets/b', value)
    assert.throws(() => storage.read('secrets/b'), DecryptionError)
  }
})
