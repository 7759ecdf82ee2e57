// Values of some collections are encrypted wherever they lie, whoever reads sees them plain, and keys can change.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { silentLogger } from '../../base/logger.js'
import { openMemoryStorage } from '../memory.js'
import type { Change, Storage } from '../storage.js'
import { cipherOf, isSealed, type Method } from './ciphers.js'
import { EncryptedStorage } from './encrypted-storage.js'
import { DecryptionError, type EncryptionRules, type Provider } from './encryption.js'

const cipher = (method: Method, name: string, bytes = 32): Provider => cipherOf(method, { name, secret: randomBytes(bytes) })
const rulesOf = (...providers: Provider[]): EncryptionRules => new Map([['secrets', providers]])
const all = { start: 'secrets/', end: 'secrets0' }
const plain = Buffer.from('the plain text of a secret')

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
    test(`${method} with ${bytes * 8} bits: what is stored is sealed, and every way to read gives it plain`, async () => {
      const { inner, storage } = setUp(cipher(method, 'one', bytes))
      const seen: Change[] = []
      const unfollow = storage.follow((changes) => void seen.push(...changes))
      const first = await put(storage, 'secrets/a/x', plain)
      await put(storage, 'secrets/a/x', Buffer.from('another'))
      await put(storage, 'configmaps/a/x', plain)
      unfollow()
      for (const { value } of [...inner.range({ ...all, limit: 9 }).entries, ...inner.range({ ...all, limit: 9, at: first }).entries]) {
        assert.ok(isSealed(value))
        assert.ok(!value.includes('plain') && !value.includes('another'))
      }
      assert.deepEqual(inner.read('configmaps/a/x')?.value, plain)
      assert.equal(storage.read('secrets/a/x')?.value.toString(), 'another')
      assert.deepEqual(storage.range({ ...all, limit: 9, at: first }).entries[0]?.value, plain)
      const scanned: string[] = []
      storage.scan({ start: 'a', end: 'z' }, ({ key, bytes: of, start, end }) => {
        scanned.push(`${key}=${Buffer.from(of.subarray(start, end))}`)
        return true
      })
      assert.deepEqual(scanned, [`configmaps/a/x=${plain}`, 'secrets/a/x=another'])
      const { changes } = storage.changes({ ...all, after: 0, limit: 9 })
      assert.deepEqual(
        changes.map(({ value, previous }) => [value?.toString(), previous?.value.toString()]),
        [
          [String(plain), undefined],
          ['another', String(plain)],
        ],
      )
      assert.deepEqual(seen.slice(0, 2), changes)
      const refused = await storage.commit([{ key: 'secrets/a/x', value: plain, expect: 0 }])
      assert.equal(refused.ok ? '' : refused.current?.value.toString(), 'another')
    })

test('the same value is sealed differently each time', async () => {
  const { inner, storage } = setUp(cipher('aesgcm', 'one'))
  await put(storage, 'secrets/a', plain)
  await put(storage, 'secrets/b', plain)
  assert.notDeepEqual(inner.read('secrets/a')?.value, inner.read('secrets/b')?.value)
})

test('keys change: old values stay readable and are stale, new ones are written with the first key', async () => {
  const [older, newer] = [cipher('aesgcm', 'older'), cipher('aesgcm', 'newer')]
  const { inner, storage } = setUp(older)
  await put(storage, 'secrets/a', plain)
  assert.equal(storage.isStale('secrets/a'), false)
  storage.setRules(rulesOf(newer, older))
  assert.deepEqual(storage.read('secrets/a')?.value, plain)
  assert.equal(storage.isStale('secrets/a'), true)
  await put(storage, 'secrets/a', plain)
  assert.equal(storage.isStale('secrets/a'), false)
  assert.ok(inner.read('secrets/a')?.value.includes('newer'))
  storage.setRules(rulesOf(newer))
  assert.deepEqual(storage.read('secrets/a')?.value, plain)
})

test('keys of one name in two providers: a value opens with the one that it was sealed with', async () => {
  const [old, next] = [cipher('aesgcm', 'key1'), cipher('aesgcm', 'key1')]
  const { inner, storage } = setUp(old)
  await put(storage, 'secrets/a/x', plain)
  const changed = new EncryptedStorage({ storage: inner, rules: rulesOf(next, old), logger: silentLogger })
  await put(changed, 'secrets/a/y', plain)
  assert.deepEqual([changed.read('secrets/a/x')?.value, changed.read('secrets/a/y')?.value], [plain, plain])
})

test('encryption is turned on and off again with identity in the list', async () => {
  const key = cipher('aesgcm', 'one')
  const { inner, storage } = setUp(undefined)
  await put(storage, 'secrets/a', plain)
  assert.deepEqual(inner.read('secrets/a')?.value, plain)
  storage.setRules(rulesOf(key, undefined))
  assert.equal(storage.isStale('secrets/a'), true)
  await put(storage, 'secrets/a', plain)
  storage.setRules(rulesOf(undefined, key))
  assert.deepEqual(storage.read('secrets/a')?.value, plain)
  assert.equal(storage.isStale('secrets/a'), true)
})

const wrong: readonly { readonly title: string; readonly rules: EncryptionRules; readonly says: RegExp }[] = [
  {
    title: 'the key is missing',
    rules: rulesOf(cipher('aesgcm', 'two')),
    says: /secrets\/a cannot be decrypted: there is no key for aesgcm key "one"/,
  },
  { title: 'another key has its name', rules: rulesOf(cipher('aesgcm', 'one')), says: /cannot be decrypted with aesgcm key "one"/ },
  { title: 'only plain values are expected', rules: rulesOf(undefined), says: /there is no key for aesgcm key "one"/ },
]
for (const { title, rules, says } of wrong)
  test(`${title}: reading fails with the reason, watches end, and the rest goes on`, async () => {
    const { storage } = setUp(cipher('aesgcm', 'one'))
    await put(storage, 'secrets/a', plain)
    await put(storage, 'configmaps/a', plain)
    storage.setRules(rules)
    assert.throws(
      () => storage.read('secrets/a'),
      (thrown) => thrown instanceof DecryptionError && says.test(thrown.message),
    )
    assert.throws(() => storage.range({ ...all, limit: 1 }), DecryptionError)
    assert.throws(() => storage.changes({ ...all, after: 0, limit: 1 }), DecryptionError)
    assert.deepEqual(storage.read('configmaps/a')?.value, plain)
    const gaps: boolean[] = []
    const keys: string[] = []
    storage.follow((changes, hasGap) => {
      gaps.push(hasGap)
      keys.push(...changes.map(({ key }) => key))
    })
    await put(storage, 'secrets/a', plain)
    await put(storage, 'configmaps/a', plain)
    assert.deepEqual(gaps, [true, false])
    assert.deepEqual(keys, ['secrets/a', 'configmaps/a'], 'caches hear of every change')
  })

test('a value that was copied under another key, changed or cut does not open', async () => {
  const { inner, storage } = setUp(cipher('aesgcm', 'one'))
  await put(storage, 'secrets/a', plain)
  const sealed = inner.read('secrets/a')?.value as Buffer
  const changed = Buffer.from(sealed)
  changed[changed.length - 20] = (changed[changed.length - 20] ?? 0) ^ 1
  for (const value of [sealed, changed, sealed.subarray(0, -1), sealed.subarray(0, 20)]) {
    await put(inner, 'secrets/b', value)
    assert.throws(() => storage.read('secrets/b'), DecryptionError)
  }
})
