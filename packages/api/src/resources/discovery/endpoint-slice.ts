// EndpointSlice: limits, addresses by type, hints, generation, printer columns.

import { asFirstGeneration, asNextGeneration } from '../../api/definition/generation.js'
import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../../api/field-error.js'
import {
  checkChoice,
  checkEach,
  checkOptional,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
  joined,
  noErrors,
} from '../../api/validation/checks.js'
import { validateLabels } from '../../api/validation/metadata/labels.js'
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../api/validation/name-formats.js'
import { checkFullyQualifiedName } from '../../api/validation/network/domain-names.js'
import { checkReachableIp } from '../../api/validation/network/ip.js'
import { familyOf } from '../../api/validation/network/ip-text.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { sameValue } from '../../api/validation/same-value.js'
import { mapItems, withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { type Endpoint, type EndpointHints, type EndpointPort, type EndpointSlice, endpointSlice as schema } from './v1.schema.js'

const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const protocols = ['SCTP', 'TCP', 'UDP']
const maxCounts = { endpoints: 1000, addresses: 100, topology: 16, ports: 20000, zones: 8 }

function validateSlice({ addressType = '', endpoints = [], ports = [] }: EndpointSlice): readonly FieldError[] {
  return joined(
    checkChoice(addressType, 'addressType', addressTypes),
    endpoints.length > maxCounts.endpoints
      ? [tooMany('endpoints', endpoints.length, maxCounts.endpoints)]
      : checkEach(endpoints, 'endpoints', (endpoint, at) => validateEndpoint(endpoint, at, addressType)),
    ports.length > maxCounts.ports ? [tooMany('ports', ports.length, maxCounts.ports)] : validatePorts(ports),
  )
}

function validateEndpoint(endpoint: Endpoint, field: string, addressType: string): readonly FieldError[] {
  const { addresses = [], nodeName, deprecatedTopology = {}, hostname, hints } = endpoint
  const topologyCount = Object.keys(deprecatedTopology).length
  return joined(
    addresses.length === 0 ? [required(`${field}.addresses`, 'must contain at least 1 address')] : noErrors,
    addresses.length > maxCounts.addresses ? [tooMany(`${field}.addresses`, addresses.length, maxCounts.addresses)] : noErrors,
    checkEach(addresses, `${field}.addresses`, (address, at) => validateAddress(address, at, addressType)),
    checkOptional(nodeName, `${field}.nodeName`, (name, at) => checkText(name, at, dnsSubdomain)),
    topologyCount > maxCounts.topology ? [tooMany(`${field}.deprecatedTopology`, topologyCount, maxCounts.topology)] : noErrors,
    validateLabels(deprecatedTopology, `${field}.deprecatedTopology`),
    checkOptional(hostname, `${field}.hostname`, (name, at) => checkText(name, at, dnsLabel)),
    checkOptional(hints, `${field}.hints`, validateHints),
  )
}

/** Skips unknown address types, which are rejected already. */
function validateAddress(address: string, field: string, addressType: string): readonly FieldError[] {
  if (addressType === 'FQDN') return checkFullyQualifiedName(address, field)
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return noErrors
  return joined(
    familyOf(address) === addressType ? noErrors : [invalid(field, address, `must be a valid ${addressType} address`)],
    checkReachableIp(address, field),
  )
}

function validateHints({ forZones = [] }: EndpointHints, field: string): readonly FieldError[] {
  const at = `${field}.forZones`
  if (forZones.length > maxCounts.zones) return [tooMany(at, forZones.length, maxCounts.zones)]
  const seen = new Set<string>()
  return checkEach(forZones, at, ({ name = '' }, zoneAt) => {
    const isRepeated = seen.has(name)
    seen.add(name)
    return joined(isRepeated ? [duplicate(`${zoneAt}.name`, name)] : noErrors, checkText(name, `${zoneAt}.name`, labelValue))
  })
}

function validatePorts(ports: readonly EndpointPort[]): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(ports, 'ports', ({ name = '', protocol, appProtocol }, at) => {
    const isRepeated = seen.has(name)
    seen.add(name)
    return joined(
      name === '' ? noErrors : checkText(name, `${at}.name`, dnsLabel),
      isRepeated ? [duplicate(`${at}.name`, name)] : noErrors,
      protocol === undefined ? [required(`${at}.protocol`)] : noErrors,
      protocol === undefined || protocols.includes(protocol) ? noErrors : [notSupported(`${at}.protocol`, protocol, protocols)],
      checkOptional(appProtocol, `${at}.appProtocol`, (text, textAt) => checkText(text, textAt, qualifiedName)),
    )
  })
}

const withPortDefaults = (ports: readonly EndpointPort[]): readonly EndpointPort[] =>
  mapItems(ports, (port) => withMissing(port, { name: '', protocol: 'TCP' }))

const isSameContent = (a: EndpointSlice, b: EndpointSlice): boolean => sameBySchema(schema, { ...a, metadata: {} }, { ...b, metadata: {} })

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
  const isChanged = !isSameContent(next, old) || !sameValue(next.metadata?.labels ?? {}, old.metadata?.labels ?? {})
  const prepared = withoutGatedHints(isChanged ? asNextGeneration(next, old) : next, old, context)
  const keepsEndpoints = sameValue(prepared.endpoints ?? [], old.endpoints ?? [])
  return keepsEndpoints ? prepared : withoutTopology(prepared)
}

const maxShownItems = 3

function describeItems(items: readonly string[]): string {
  const shown = items.slice(0, maxShownItems).join(',')
  return items.length > maxShownItems ? `${shown} + ${items.length - maxShownItems} more...` : shown || '<unset>'
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
  validateUpdate: (next, old) => checkUnchanged(next.addressType ?? '', old.addressType ?? '', 'addressType'),
  checks: { update: ['metadata', 'validate', 'validateUpdate'] },
  table: tableOf<EndpointSlice>(
    nameColumn,
    textColumn('AddressType', 'Type of the addresses.', ({ addressType }) => addressType ?? ''),
    textColumn('Ports', 'First ports.', ({ ports = [] }) => describeItems(ports.map(describePort))),
    textColumn('Endpoints', 'First addresses.', ({ endpoints = [] }) => describeItems(endpoints.flatMap(addressesOf))),
    ageColumn,
  ),
})
