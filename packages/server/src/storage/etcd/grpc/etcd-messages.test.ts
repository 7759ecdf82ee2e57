// etcd's messages: requests have the bytes that etcd expects, answers are read in full.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeTxn, decodeWatch, encodeRange, encodeTxn } from './messages.js'

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

test('events of a watch hold keys and values as views of the answer', () => {
  // revision 9; a put of a = v at 8 with fields that are of no interest, and a deletion of b at 9.
  const answer = decodeWatch(Buffer.from('0a021809 5a0c120a0a0161100718082a0176 5a0908011205 0a01621809'.replaceAll(' ', ''), 'hex'), 8)
  assert.equal(answer.revision, 9)
  assert.deepEqual(
    answer.events.map(({ key, value, modRevision, isDelete }) => [key.toString(), value.toString(), modRevision, isDelete]),
    [
      ['a', 'v', 8, false],
      ['b', '', 9, true],
    ],
  )
})
