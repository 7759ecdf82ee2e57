// Messages that are written backwards are read forwards, whatever numbers and lengths they have.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeTxn, encodeRange, encodeTxn } from './messages.js'
import { createMessageReader, createMessageWriter } from './protobuf.js'

const numbers = [0, 1, 127, 128, 300, 16_383, 16_384, 2 ** 31, 2 ** 32 + 5, 2 ** 48 - 1, Number.MAX_SAFE_INTEGER]

test('numbers, texts and nested messages come back as they were written', () => {
  const writer = createMessageWriter(4)
  for (const value of numbers.toReversed()) {
    const mark = writer.length
    writer.bytes(4, Buffer.from('two '), Buffer.from('parts'))
    writer.number(3, BigInt(value) + 2n ** 62n)
    writer.text(2, 'é😀'.repeat(value % 50))
    writer.number(1, value)
    writer.message(15, mark)
  }
  const reader = createMessageReader(writer.finish())
  for (const value of numbers) {
    assert.equal(reader.next(), 15)
    const inner = reader.message()
    assert.equal(inner.next(), 1)
    assert.equal(inner.number(), value)
    assert.equal(inner.next(), 2)
    assert.equal(inner.bytes().toString(), 'é😀'.repeat(value % 50))
    assert.equal(inner.next(), 3)
    assert.equal(inner.big(), BigInt(value) + 2n ** 62n)
    assert.equal(inner.next(), 4)
    assert.equal(inner.bytes().toString(), 'two parts')
    assert.equal(inner.next(), 0)
  }
  assert.equal(reader.next(), 0)
})

test('fields that are not known are skipped', () => {
  // Fields 1 (varint), 2 (64 bits), 3 (bytes), 4 (32 bits), 5 (varint).
  const reader = createMessageReader(Buffer.from('08ac02 110102030405060708 1a03616263 2501020304 2807'.replaceAll(' ', ''), 'hex'))
  for (const field of [1, 2, 3, 4]) {
    assert.equal(reader.next(), field)
    reader.skip()
  }
  assert.equal(reader.next(), 5)
  assert.equal(reader.number(), 7)
})

test('a message that ends in the middle is refused', () => {
  for (const hex of ['08', '08ff', '1a0561', '0a']) {
    const reader = createMessageReader(Buffer.from(hex, 'hex'))
    reader.next()
    assert.throws(() => reader.skip(), RangeError, hex)
  }
})

test('requests have the bytes that etcd expects', () => {
  assert.equal(
    encodeRange({ key: 'a', end: 'b', limit: 5, revision: 300, keysOnly: true }).toString('hex'),
    '0a016112016218052' + '0ac024001',
  )
  const txn = encodeTxn(
    {
      compare: [{ key: 'a', modRevision: 0 }],
      success: [{ kind: 'put', key: 'a', value: [Buffer.from('v')], lease: 2n ** 62n }],
      failure: [{ kind: 'delete', key: 'b' }],
    },
    8,
  )
  assert.equal(txn.toString('hex'), '0a0710021a01613000' + '121212100a0161120176' + '18808080808080808040' + '1a051a030a0162')
})

test('answers to transactions in transactions are told apart', () => {
  // succeeded; responses: a put, a transaction that failed, a transaction that succeeded.
  const answer = decodeTxn(Buffer.from('0a021809 1001 1a021200 1a022200 1a0422021001'.replaceAll(' ', ''), 'hex'))
  assert.equal(answer.revision, 9)
  assert.equal(answer.succeeded, true)
  assert.deepEqual(
    answer.answers.map(({ txn }) => txn?.succeeded),
    [undefined, false, true],
  )
})
