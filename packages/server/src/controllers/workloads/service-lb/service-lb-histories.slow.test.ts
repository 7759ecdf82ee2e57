// Random histories of Services with restarts: each load balancer has an address of its own, others have none, and none waits while an
// address is free.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type HistoryPlan, nameOf, pick, playHistory } from '../histories.fixture.js'
import { isTerminating } from '../kit/workload-parts.js'
import { isInRange } from './load-balancer-addresses.js'

const finalizer = 'service.kubernetes.io/load-balancer-cleanup'
/** Addresses .1 to .6. */
const serviceLbRange = '198.51.100.0/29'
const usableAddresses = 6

const plan: HistoryPlan = {
  controllers: ['service-lb'],
  flags: { terminatedPodThreshold: 0, serviceLbRange, podRanges: [], serviceRanges: [] },
  steps: 60,
  /** Longer than the longest back-off. */
  settleMs: 310_000,
  begin: async (cluster, random) => {
    let names = 0
    const services = (): readonly Service[] => cluster.list<Service>('', 'services')
    const specOf = () => {
      const type = random(4) === 0 ? 'ClusterIP' : 'LoadBalancer'
      const wanted = random(4) === 0 ? { loadBalancerIP: `198.51.100.${1 + random(6)}` } : {}
      const ofOther = random(6) === 0 ? { loadBalancerClass: 'example.com/other' } : {}
      return { type, ports: [{ port: 80 }], ...(type === 'LoadBalancer' ? { ...wanted, ...ofOther } : {}) }
    }
    const add = async (): Promise<string> => {
      const name = `s${++names}`
      const spec = specOf()
      await cluster.create('', 'services', { metadata: { name }, spec })
      return `add ${name} ${JSON.stringify(spec)}`
    }
    const onOne = async (verb: string, act: (name: string, service: Service) => Promise<unknown>): Promise<string> => {
      const service = pick(
        random,
        services().filter((each) => !isTerminating(each)),
      )
      if (service !== undefined) await act(nameOf(service), service)
      return `${verb} ${service === undefined ? '' : nameOf(service)}`
    }
    const patch = (name: string, spec: object) => cluster.patch({ group: '', plural: 'services', name }, { spec })
    const remove = (): Promise<string> => onOne('remove', (name) => cluster.remove({ group: '', plural: 'services', name }))
    const changeType = (): Promise<string> =>
      onOne('change type of', async (name, { spec }) =>
        spec?.type === 'LoadBalancer'
          ? patch(name, { type: 'ClusterIP', loadBalancerClass: null, loadBalancerIP: null })
          : patch(name, { type: 'LoadBalancer' }),
      )
    const want = (): Promise<string> =>
      onOne('want an address for', async (name, { spec }) => {
        if (spec?.type === 'LoadBalancer') await patch(name, { loadBalancerIP: `198.51.100.${pick(random, [1, 2, 3, 4, 5, 6, 200])}` })
      })
    return {
      actions: [add, add, add, remove, changeType, want],
      check: () => {
        const addressesOf = ({ status }: Service) => (status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip)
        const isOurs = ({ spec }: Service): boolean => spec?.type === 'LoadBalancer' && spec.loadBalancerClass === undefined
        const used = services().flatMap(addressesOf)
        assert.equal(new Set(used).size, used.length, `each address once: ${used}`)
        for (const service of services()) {
          const { metadata, spec } = service
          const name = nameOf(service)
          const addresses = addressesOf(service)
          assert.ok(!isTerminating(service), `${name} is not released`)
          assert.equal(metadata?.finalizers?.includes(finalizer) === true, isOurs(service), `finalizer of ${name}`)
          const { loadBalancerIP: wanted } = spec ?? {}
          if (!isOurs(service)) assert.deepEqual(addresses, [], name)
          else if (addresses.length === 0) {
            const isFree =
              wanted === undefined ? used.length < usableAddresses : !used.includes(wanted) && isInRange(serviceLbRange, wanted)
            assert.ok(!isFree, `${name} waits, but ${wanted ?? 'an address'} is free: ${used}`)
          } else {
            assert.match(addresses.join(), /^198\.51\.100\.[1-6]$/)
            if (wanted !== undefined && isInRange(serviceLbRange, wanted) && !used.includes(wanted))
              assert.equal(addresses[0], wanted, name)
          }
        }
      },
    }
  },
}

for (const seed of [1, 2, 3, 4]) test(`random history ${seed}: each load balancer has its own address`, () => playHistory(seed, plan))
