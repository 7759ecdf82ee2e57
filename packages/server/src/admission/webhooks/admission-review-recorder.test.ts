// Recorded AdmissionReviews: limits in number and bytes, and no secrets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RecordedReview, ReviewRecorder } from './admission-review-recorder.js'
import type { Webhook } from './webhook.js'
import { webhooksIn } from './webhook.js'

const [webhook] = webhooksIn([{ metadata: { name: 'c' }, webhooks: [{ name: 'h.example.com' }] } as object]) as readonly [Webhook]

const reviewOf = (kind: string, object: object, uid = 'u') =>
  JSON.stringify({ kind: 'AdmissionReview', request: { uid, kind: { kind }, object } })

const itemsOf = (recorder: ReviewRecorder): readonly RecordedReview[] => JSON.parse(recorder.text()).items

test('the last reviews are recorded with their responses', () => {
  const recorder = new ReviewRecorder(2)
  for (const uid of ['1', '2', '3'])
    recorder.record(webhook, 'admit', reviewOf('ConfigMap', { data: { a: 'b' } }, uid), {
      response: { status: 200, body: Buffer.from('{"response":{}}'), retryAfter: undefined },
    })
  recorder.record(webhook, 'validating', reviewOf('ConfigMap', {}, '4'), { error: 'connection refused' })
  const [first, second] = itemsOf(recorder)
  assert.deepEqual(first, {
    time: first?.time,
    configuration: 'c',
    webhook: 'h.example.com',
    type: 'admit',
    answer: { response: {} },
    review: JSON.parse(reviewOf('ConfigMap', { data: { a: 'b' } }, '3')),
  })
  assert.deepEqual([second?.error, second?.type, itemsOf(recorder).length], ['connection refused', 'validating', 2])
})

test('Secrets are recorded without values, tokens not at all', () => {
  const recorder = new ReviewRecorder(10)
  const secret = {
    metadata: { name: 's', annotations: { last: 'c2VjcmV0' } },
    data: { password: 'c2VjcmV0' },
    stringData: { x: 'c2VjcmV0' },
  }
  recorder.record(webhook, 'admit', reviewOf('Secret', secret), {})
  recorder.record(webhook, 'admit', reviewOf('TokenReview', { spec: { token: 'c2VjcmV0' } }), {})
  recorder.record(webhook, 'admit', reviewOf('ConfigMap', { data: { a: 'x'.repeat(2 << 20) } }), {})
  const text = recorder.text()
  assert.ok(!text.includes('c2VjcmV0'))
  assert.equal(itemsOf(recorder).length, 1)
  assert.match(text, /"password":"cmVkYWN0ZWQ="/)
})

test('patches of Secrets are not recorded', () => {
  const recorder = new ReviewRecorder(10)
  const patch = Buffer.from('[{"op":"add","path":"/data/token","value":"c2VjcmV0"}]').toString('base64')
  for (const body of [JSON.stringify({ response: { uid: 'u', allowed: true, patch, patchType: 'JSONPatch' } }), `no JSON ${patch}`])
    recorder.record(webhook, 'admit', reviewOf('Secret', {}), { response: { status: 200, body: Buffer.from(body), retryAfter: undefined } })
  assert.deepEqual(
    itemsOf(recorder).map(({ answer }) => answer),
    [{ response: { uid: 'u', allowed: true } }, undefined],
  )
  assert.ok(!recorder.text().includes(patch))
})

test('recordings are limited in bytes', () => {
  const recorder = new ReviewRecorder(1000)
  for (let i = 0; i < 100; i++) recorder.record(webhook, 'admit', reviewOf('ConfigMap', { data: { a: 'x'.repeat(900_000) } }), {})
  assert.ok(recorder.text().length < 17 << 20)
  assert.ok(itemsOf(recorder).length > 10)
})
