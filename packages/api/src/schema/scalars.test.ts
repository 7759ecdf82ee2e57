// Canonical text of times and bytes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBytes, readTime } from './scalars.js'

const times: readonly { text: string; micro?: boolean; canonical: string | undefined }[] = [
  { text: '2024-02-29T12:00:00Z', canonical: '2024-02-29T12:00:00Z' },
  { text: '2023-02-29T12:00:00Z', canonical: undefined },
  { text: '2024-13-01T12:00:00Z', canonical: undefined },
  { text: '2024-01-01T25:00:00Z', canonical: undefined },
  { text: '2024-01-01t00:00:00z', canonical: undefined },
  { text: '2024-01-01T00:00:00.5Z', canonical: '2024-01-01T00:00:00Z' },
  { text: '2024-01-01T00:30:00-01:30', canonical: '2024-01-01T02:00:00Z' },
  { text: '2024-01-01T00:00:00.123456+01:00', micro: true, canonical: '2023-12-31T23:00:00.123456Z' },
  { text: '2024-01-01T00:00:00.123456789Z', micro: true, canonical: undefined },
  { text: '2024-01-01T00:00:00.123Z', micro: true, canonical: undefined },
  { text: '2024-01-01T00:00:00Z', micro: true, canonical: undefined },
  { text: '2024-01-01', canonical: undefined },
]
for (const row of times) test(`readTime of ${row.text}`, () => assert.equal(readTime(row.text, row.micro ?? false), row.canonical))

test('readBytes accepts 16 MiB of base64', () => {
  const text = 'abcd'.repeat(4 << 20)
  assert.equal(readBytes(text), text)
  assert.equal(readBytes(`${text}a`), undefined)
})
