// Random histories of Services and hand-written Endpoints, with restarts: the slices of a Service without a selector list the addresses
// of its Endpoints, each once; no other slice exists.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoints, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { EndpointSlice } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import { collectGarbage, type HistoryPlan, nameOf, pick, playHistory } from '../histories.fixture.js'

const sliceKind = { group: 'discovery.k8s.io', plural: 'endpointslices' }
const skipLabel = 'endpointslice.kubernetes.io/skip-mirror'
const names = ['a', 'b', 'c']

const plan: HistoryPlan = {
  controllers: ['endpointslicemirroring'],
  steps: 60,
  /** Longer than the delay after a failure. */
  settleMs: 10_000,
  begin: async (cluster, random) => {
    const services = (): readonly Service[] => cluster.list<Service>('', 'services')
    const endpoints = (): readonly Endpoints[] => cluster.list<Endpoints>('', 'endpoints')
    const slices = (): readonly EndpointSlice[] => cluster.list<EndpointSlice>(sliceKind.group, sliceKind.plural)
    const subsets = () =>
      Array.from({ length: random(3) }, (_, i) => ({
        addresses: [{ ip: `10.0.${i}.${1 + random(3)}` }, { ip: `fd00::${i}:${1 + random(3)}` }].slice(random(2)),
        notReadyAddresses: random(2) === 0 ? [{ ip: `10.0.${i}.9` }] : [],
        ports: [{ name: 'http', port: 80 + i + 2 * random(2), protocol: 'TCP' }],
      }))
    const toggle = async (plural: string, name: string, existing: readonly Service[] | readonly Endpoints[], object: object) => {
      if (!existing.some((each) => nameOf(each) === name)) {
        await cluster.create('', plural, { metadata: { name }, ...object })
        return `add ${plural} ${name}`
      }
      await cluster.remove({ group: '', plural, name })
      return `remove ${plural} ${name}`
    }
    const service = () => {
      const spec = {
        clusterIP: 'None',
        clusterIPs: ['None'],
        ports: [{ port: 80 }],
        ...(random(3) === 0 ? { selector: { app: 'x' } } : {}),
      }
      return toggle('services', pick(random, names) ?? '', services(), { spec })
    }
    const endpointsOf = () => toggle('endpoints', pick(random, names) ?? '', endpoints(), { subsets: subsets() })
    const patchOne = async (plural: string, object: Service | Endpoints | undefined, patch: object): Promise<string> => {
      if (object !== undefined) await cluster.patch({ group: '', plural, name: nameOf(object) }, patch)
      return `${plural} ${object === undefined ? '' : nameOf(object)} ${JSON.stringify(patch)}`
    }
    const select = () => patchOne('services', pick(random, services()), { spec: { selector: random(2) === 0 ? { app: 'x' } : null } })
    const change = () => patchOne('endpoints', pick(random, endpoints()), { subsets: subsets() })
    const skip = () =>
      patchOne('endpoints', pick(random, endpoints()), { metadata: { labels: { [skipLabel]: random(2) === 0 ? 'true' : null } } })
    const tamper = async (): Promise<string> => {
      const slice = pick(random, slices())
      if (slice === undefined) return 'no slice'
      const target = { ...sliceKind, name: nameOf(slice) }
      if (random(2) === 0) await cluster.remove(target)
      else await cluster.patch(target, { endpoints: [{ addresses: slice.addressType === 'IPv4' ? ['10.9.9.9'] : ['fd00::9:9'] }] })
      return `tamper with ${nameOf(slice)}`
    }
    return {
      actions: [service, service, endpointsOf, endpointsOf, select, change, change, skip, tamper],
      tidy: () => collectGarbage(cluster, sliceKind, endpoints()),
      check: () => {
        const isMirrored = (object: Endpoints): boolean => {
          const of = services().find((each) => nameOf(each) === nameOf(object))
          return of !== undefined && of.spec?.selector === undefined && object.metadata?.labels?.[skipLabel] === undefined
        }
        const expected = endpoints()
          .filter(isMirrored)
          .flatMap((each) =>
            (each.subsets ?? []).flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => [
              ...addresses.map(({ ip }) => `${nameOf(each)} ${ip}:${ports[0]?.port} true`),
              ...notReadyAddresses.map(({ ip }) => `${nameOf(each)} ${ip}:${ports[0]?.port} false`),
            ]),
          )
        const listed = slices().flatMap(({ metadata, endpoints: listing = [], ports = [] }) =>
          listing.map(
            ({ addresses, conditions }) =>
              `${metadata?.labels?.['kubernetes.io/service-name']} ${addresses?.[0]}:${ports[0]?.port} ${conditions?.ready}`,
          ),
        )
        assert.deepEqual(listed.sort(), expected.sort())
      },
    }
  },
}

for (const seed of [1, 2, 3, 4]) test(`random history ${seed}: slices mirror the Endpoints`, () => playHistory(seed, plan))
