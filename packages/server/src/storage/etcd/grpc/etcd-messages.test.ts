// Protobuf messages of etcd: encoded requests and decoded responses.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeTxn, decodeWatch, encodeRange, encodeTxn } from './etcd-messages.js'

test('requests are encoded as etcd expects', () => {
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

test('responses of nested transactions are decoded', () => {
  // Succeeded, with three responses: a put, a transaction that failed, a transaction that succeeded.
  const response = decodeTxn(Buffer.from('0a021809 1001 1a021200 1a022200 1a0422021001'.replaceAll(' ', ''), 'hex'))
  assert.equal(response.revision, 9)
  assert.equal(response.succeeded, true)
  assert.deepEqual(
    response.responses.map(({ txn }) => txn?.succeeded),
    [undefined, false, true],
  )
})

test('keys and values of watch events are views of the response', () => {
  // Revision 9; a put of a = v at 8 with fields that the decoder skips, and a deletion of b at 9.
  const response = decodeWatch(Buffer.from('0a021809 5a0c120a0a0161100718082a0176 5a0908011205 0a01621809'.replaceAll(' ', ''), 'hex'), 8)
  assert.equal(response.revision, 9)
  assert.deepEqual(
    response.events.map(({ key, value, modRevision, isDelete }) => [key.toString(), value.toString(), modRevision, isDelete]),
    [
      ['a', 'v', 8, false],
      ['b', '', 9, true],
    ],
  )
})
