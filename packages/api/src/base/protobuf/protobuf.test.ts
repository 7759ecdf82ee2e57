// Tests of Protobuf writer and reader: round trips, skipped fields, errors on broken messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enter, leave, ProtobufReadError, readerOf, readRaw, readText, readVarint, skipField } from './protobuf-reader.js'
import { collectBytes, type ProtoWriter, writeInteger, writeRaw, writeText, writeUint, writtenBytes } from './protobuf-writer.js'

const numbers = [0, 1, 127, 128, 300, 16_383, 16_384, 2 ** 28, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 5, 2 ** 48 - 1, 2 ** 49]
const unsafe = [BigInt(Number.MAX_SAFE_INTEGER), 2n ** 62n, 2n ** 64n - 1n]

const writeLengthAndTag = (writer: ProtoWriter, tag: number, startBytes: number): void => {
  writeUint(writer, writtenBytes(writer) - startBytes)
  writeUint(writer, tag)
}

test('varints of numbers and of bigints have the bytes of the Protobuf encoding', () => {
  const expectedVarint = (value: bigint): number[] =>
    value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...expectedVarint(value >> 7n)]
  const all = [...numbers, Number.MAX_SAFE_INTEGER]
  for (const value of all) {
    for (const integer of [value, BigInt(value)]) {
      assert.deepEqual([...collectBytes((writer) => writeInteger(writer, integer))], expectedVarint(BigInt(value)), String(integer))
    }
    const written = Uint8Array.from(expectedVarint(BigInt(value)))
    assert.equal(BigInt(readVarint(readerOf(written))), BigInt(value))
  }
  assert.equal(collectBytes((writer) => writeInteger(writer, -1)).length, 10)
})

for (const expectedBytes of [0, 100_000]) {
  test(`numbers, texts and nested messages survive a round trip, with ${expectedBytes} bytes reserved`, () => {
    const written = collectBytes((writer) => {
      for (const value of [...numbers, ...unsafe].toReversed()) {
        const startBytes = writtenBytes(writer)
        writeRaw(writer, new Uint8Array(5000).fill(7))
        writeLengthAndTag(writer, 0x1a, startBytes)
        const textStartBytes = writtenBytes(writer)
        writeText(writer, 'é😀'.repeat(Number(BigInt(value) % 50n)))
        writeLengthAndTag(writer, 0x12, textStartBytes)
        writeInteger(writer, value)
        writeUint(writer, 0x08)
        writeLengthAndTag(writer, 0x7a, startBytes)
      }
    }, expectedBytes)
    const reader = readerOf(written)
    for (const value of [...numbers, ...unsafe]) {
      assert.equal(readVarint(reader), 0x7a)
      const outerEnd = enter(reader)
      assert.equal(readVarint(reader), 0x08)
      assert.equal(BigInt(readVarint(reader)), BigInt(value))
      assert.equal(readVarint(reader), 0x12)
      assert.equal(readText(reader), 'é😀'.repeat(Number(BigInt(value) % 50n)))
      assert.equal(readVarint(reader), 0x1a)
      assert.equal(readRaw(reader).length, 5000)
      assert.equal(reader.at, reader.end)
      leave(reader, outerEnd)
    }
    assert.equal(reader.at, reader.end)
  })
}

test('skipField skips unknown fields of every wire type', () => {
  // Fields 1 (varint), 2 (64 bits), 3 (bytes), 4 (32 bits), 5 (varint).
  const reader = readerOf(Buffer.from('08ac02110102030405060708' + '1a0361626325010203042807', 'hex'))
  for (const field of [1, 2, 3, 4]) {
    const tag = Number(readVarint(reader))
    assert.equal(tag >> 3, field)
    skipField(reader, tag & 7)
  }
  assert.equal(readVarint(reader), 5 << 3)
  assert.equal(readVarint(reader), 7)
})

test('truncated messages and endless varints throw ProtobufReadError', () => {
  for (const hex of ['08', '08ff', '1a0561', '0a', '11010203', '25010203', '08ffffffffffffffffffffff01']) {
    const reader = readerOf(Buffer.from(hex, 'hex'))
    const tag = Number(readVarint(reader))
    assert.throws(() => skipField(reader, tag & 7), ProtobufReadError, hex)
  }
})
