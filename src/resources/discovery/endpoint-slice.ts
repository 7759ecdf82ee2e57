// Endpoint slices: the endpoints behind a service, in pieces, so that a change does not rewrite all of them.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkUnchanged } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { sameValue } from '../../api/validation/same-value.js'
import { mapItems } from '../core/pod-spec/all-containers.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { validateSlice } from './endpoint-slice-rules.js'
import { type Endpoint, type EndpointPort, type EndpointSlice, endpointSlice as schema } from './v1.schema.js'

const withPortDefaults = (ports: readonly EndpointPort[]): readonly EndpointPort[] =>
  mapItems(ports, (port) => withMissing(port, { name: '', protocol: 'TCP' }))

const isSame = (a: EndpointSlice, b: EndpointSlice): boolean => sameBySchema(schema, { ...a, metadata: {} }, { ...b, metadata: {} })

/** Where an endpoint is has fields of its own now; what still comes as labels is not kept. */
function withoutTopology(next: EndpointSlice): EndpointSlice {
  return withChanged(next, 'endpoints', (endpoints) =>
    endpoints.some(({ deprecatedTopology }) => deprecatedTopology !== undefined)
      ? endpoints.map(({ deprecatedTopology, ...endpoint }) => endpoint)
      : endpoints,
  )
}

const hasHints = ({ endpoints = [] }: EndpointSlice): boolean => endpoints.some(({ hints }) => hints !== undefined)

function withoutGatedHints(next: EndpointSlice, old: EndpointSlice | undefined, { gates }: RuleContext): EndpointSlice {
  if (gates('TopologyAwareHints') || !hasHints(next) || (old !== undefined && hasHints(old))) return next
  return withChanged(next, 'endpoints', (endpoints) => endpoints.map(({ hints, ...endpoint }) => endpoint))
}

function prepareUpdate(next: EndpointSlice, old: EndpointSlice, context: RuleContext): EndpointSlice {
  const isChanged = !isSame(next, old) || !sameValue(next.metadata?.labels ?? {}, old.metadata?.labels ?? {})
  const counted = withoutGatedHints(isChanged ? asNextGeneration(next, old) : next, old, context)
  const keepsEndpoints = sameValue(counted.endpoints ?? [], old.endpoints ?? [])
  return keepsEndpoints ? counted : withoutTopology(counted)
}

const shownItems = 3

/** The first items, and how many there are besides. */
function describeItems(items: readonly string[]): string {
  const shown = items.slice(0, shownItems).join(',')
  return items.length > shownItems ? `${shown} + ${items.length - shownItems} more...` : shown || '<unset>'
}

const describePort = ({ port, name }: EndpointPort): string => (port === undefined ? (name ?? '*') : String(port))
const addressesOf = ({ addresses = [] }: Endpoint): readonly string[] => addresses

export const endpointSlice = defineResource<EndpointSlice>({
  group: { stem: 'discovery' },
  kind: 'EndpointSlice',
  resource: 'endpointslices',
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  hashedVersion: 'v1beta1',
  nameProblems: dnsSubdomainProblems,
  defaults: (slice) => withChanged(slice, 'ports', withPortDefaults),
  prepareCreate: (slice, context) => withoutTopology(withoutGatedHints(asFirstGeneration(slice), undefined, context)),
  prepareUpdate,
  validate: validateSlice,
  validateUpdate: (next, old) => checkUnchanged(next.addressType, old.addressType, 'addressType'),
  checks: { update: ['metadata', 'own', 'ownChange'] },
  table: {
    columns: [
      nameColumn,
      textColumn('AddressType', 'What the addresses are.'),
      textColumn('Ports', 'The first ports.'),
      textColumn('Endpoints', 'The first addresses.'),
      ageColumn,
    ],
    cells: ({ metadata, addressType, ports = [], endpoints = [] }, { now }) => [
      metadata?.name ?? '',
      addressType ?? '',
      describeItems(ports.map(describePort)),
      describeItems(endpoints.flatMap(addressesOf)),
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
