// Reading TracingConfiguration.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { parseTracingConfig } from './read-observability.js'

const head = 'kind: TracingConfiguration\napiVersion: apiserver.config.cluster.io/v1alpha1\n'
const parse = (text: string, isGateEnabled = true) => parseTracingConfig(text, identityOf('cluster'), () => isGateEnabled)

test('endpoint and sampling rate are read', () => {
  assert.deepEqual(parse(head), { url: 'http://localhost:4318/v1/traces', samplingRatePerMillion: 0 })
  assert.deepEqual(parse(`${head}endpoint: collector:9000\nsamplingRatePerMillion: 100`), {
    url: 'http://collector:9000/v1/traces',
    samplingRatePerMillion: 100,
  })
  assert.equal(parse(`${head}endpoint: https://c.example.com/otlp/traces`).url, 'https://c.example.com/otlp/traces')
})

for (const [text, reason, isGateEnabled] of [
  [head, /^needs --feature-gates=APIServerTracing=true/, false],
  ['- a', /must be a mapping/, true],
  ['kind: TracingConfiguration\napiVersion: v1', /not a TracingConfiguration of apiserver.config.cluster.io\/v1alpha1/, true],
  [`${head}more: 1`, /^more: unknown field/, true],
  [`${head}samplingRatePerMillion: -1`, /^samplingRatePerMillion: must be a whole number/, true],
  [`${head}samplingRatePerMillion: 1000001`, /^samplingRatePerMillion: must be one million at most/, true],
  [`${head}endpoint: ftp://x`, /^endpoint: "ftp:\/\/x" is not an address/, true],
  [`${head}endpoint: ''`, /^endpoint: "" is not an address/, true],
] as const) {
  test(`rejected: ${text.slice(head.length) || reason}`, () => {
    assert.throws(() => parse(text, isGateEnabled), { message: reason })
  })
}
