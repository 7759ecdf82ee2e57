// Random histories of nodes with restarts: every node has a range of its own, and none waits while a range is free.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cidr, containsAddress, parseCidr } from '@cluster-apiserver/api/api/validation/network/cidr.js'
import type { Node } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type HistoryPlan, nameOf, pick, playHistory } from '../histories.fixture.js'

const cluster4 = parseCidr('10.244.0.0/29') as Cidr
/** The cluster has eight ranges; one overlaps with the range of services. */
const usableRanges = 7

const plan: HistoryPlan = {
  controllers: ['nodeipam'],
  flags: {
    terminatedPodThreshold: 0,
    serviceLbRange: '198.51.100.0/24',
    podRanges: [
      { cluster: cluster4, maskBits: 32 },
      { cluster: parseCidr('fd00:1::/60') as Cidr, maskBits: 64 },
    ],
    serviceRanges: ['10.244.0.2/32'],
  },
  steps: 25,
  /** Longer than the longest back-off. */
  settleMs: 1_100_000,
  begin: async (cluster, random) => {
    let names = 0
    const nodes = (): readonly Node[] => cluster.list<Node>('', 'nodes')
    const add = async (): Promise<string> => {
      const name = `n${++names}`
      await cluster.create('', 'nodes', { metadata: { name } })
      return `add ${name}`
    }
    const remove = async (): Promise<string> => {
      const node = pick(random, nodes())
      if (node !== undefined) await cluster.remove({ group: '', plural: 'nodes', name: nameOf(node) })
      return `remove ${node === undefined ? '' : nameOf(node)}`
    }
    return {
      actions: [add, add, remove],
      check: () => {
        const ranges = nodes().map(({ spec }) => spec?.podCIDRs ?? [])
        const assigned = ranges.filter(({ length }) => length > 0)
        assert.equal(assigned.length, Math.min(nodes().length, usableRanges))
        assert.equal(new Set(assigned.flat()).size, assigned.length * 2, `each range once: ${assigned.flat()}`)
        for (const [first = ''] of assigned) {
          const range = parseCidr(first) as Cidr
          assert.ok(containsAddress(cluster4, 'IPv4', range.first) && first !== '10.244.0.2/32', first)
        }
        assert.ok(nodes().every(({ spec }) => spec?.podCIDR === spec?.podCIDRs?.[0]))
      },
    }
  },
}

for (const seed of [1, 2, 3, 4]) test(`random history ${seed}: each node has its own range`, () => playHistory(seed, plan))
