// The proposals of several metrics, some of which have no value.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { proposeReplicas } from './metric-proposals.js'
import { noCustomMetrics, noPodMetrics } from './metrics-source.js'

const external = (name: string, averageValue: string) => ({ type: 'External', external: { metric: { name }, target: { averageValue } } })

test('the highest proposal counts; a metric without a value has an empty status', async () => {
  const identity = identityOf('kubernetes')
  const customMetrics = {
    ...noCustomMetrics(identity),
    externalValues: ({ metric }: { readonly metric: string }) =>
      metric === 'none' ? Promise.reject(new Error('no value')) : Promise.resolve([12_000]),
  }
  const spec = { metrics: [external('small', '6'), external('none', '1'), external('large', '2')] }
  const target = { namespace: 'n', selector: compileLabelSelector('app=x'), pods: [], specReplicas: 2, statusReplicas: 2, nowMs: 0 }
  const { replicas, metric, statuses, errors } = await proposeReplicas(
    { spec } as Parameters<typeof proposeReplicas>[0],
    { podMetrics: noPodMetrics(identity), customMetrics },
    target,
  )
  assert.deepEqual([replicas, metric, errors.length], [6, 'external metric large(nil)', 1])
  assert.deepEqual(
    statuses.map(({ type, external: status }) => [type, status?.current?.averageValue]),
    [
      ['External', '6'],
      ['', undefined],
      ['External', '6'],
    ],
  )
})
