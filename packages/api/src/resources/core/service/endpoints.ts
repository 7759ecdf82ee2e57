// Endpoints: the addresses and ports behind a service, in subsets that share their ports.

import { defineResource } from '../../api/definition.js'
import { type FieldError, notSupported, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkPort, checkText } from '../../api/validation/fields.js'
import { checkReachableIp, ipAddress } from '../../api/validation/ip.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../api/validation/text-rules.js'
import { type EndpointAddress, type EndpointPort, type EndpointSubset, type Endpoints, endpoints as schema } from './v1.schema.js'

const protocols = ['SCTP', 'TCP', 'UDP']

const hasProtocol = ({ protocol = '' }: EndpointPort): boolean => protocol !== ''
const withProtocol = (port: EndpointPort): EndpointPort => (hasProtocol(port) ? port : { ...port, protocol: 'TCP' })

/** Ports without a protocol speak TCP. */
function defaults(endpoints: Endpoints): Endpoints {
  const isComplete = (endpoints.subsets ?? []).every(({ ports = [] }) => ports.every(hasProtocol))
  if (isComplete || endpoints.subsets === undefined) return endpoints
  const filled = (subset: EndpointSubset): EndpointSubset =>
    subset.ports === undefined ? subset : { ...subset, ports: subset.ports.map(withProtocol) }
  return { ...endpoints, subsets: endpoints.subsets.map(filled) }
}

const validate = ({ subsets = [] }: Endpoints): readonly FieldError[] =>
  subsets.flatMap((subset, i) => validateSubset(subset, `subsets[${i}]`))

function validateSubset({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset, field: string): readonly FieldError[] {
  const isEmpty = addresses.length === 0 && notReadyAddresses.length === 0
  return [
    ...(isEmpty ? [required(field, 'must specify `addresses` or `notReadyAddresses`')] : []),
    ...addresses.flatMap((address, i) => validateAddress(address, `${field}.addresses[${i}]`)),
    ...notReadyAddresses.flatMap((address, i) => validateAddress(address, `${field}.notReadyAddresses[${i}]`)),
    ...ports.flatMap((port, i) => validatePort(port, `${field}.ports[${i}]`, { needsName: ports.length > 1 })),
  ]
}

function validateAddress({ ip = '', hostname = '', nodeName }: EndpointAddress, field: string): readonly FieldError[] {
  return [
    ...checkText(ip, `${field}.ip`, ipAddress),
    ...(hostname === '' ? [] : checkText(hostname, `${field}.hostname`, dnsLabel)),
    ...(nodeName === undefined ? [] : checkText(nodeName, `${field}.nodeName`, dnsSubdomain)),
    ...checkReachableIp(ip, `${field}.ip`),
  ]
}

function validatePort(endpoint: EndpointPort, field: string, { needsName }: { readonly needsName: boolean }): readonly FieldError[] {
  const { name = '', port = 0, protocol = '', appProtocol } = endpoint
  const errors: FieldError[] = []
  if (name !== '') errors.push(...checkText(name, `${field}.name`, dnsLabel))
  else if (needsName) errors.push(required(`${field}.name`))
  errors.push(...checkPort(port, `${field}.port`))
  if (protocol === '') errors.push(required(`${field}.protocol`))
  else if (!protocols.includes(protocol)) errors.push(notSupported(`${field}.protocol`, protocol, protocols))
  if (appProtocol !== undefined) errors.push(...checkText(appProtocol, `${field}.appProtocol`, qualifiedName))
  return errors
}

const shownEndpoints = 3

/** The first ready endpoints, and how many there are besides. */
function describeEndpoints({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return '<none>'
  const all = subsets.flatMap(endpointsOf)
  const shown = all.slice(0, shownEndpoints).join(',')
  return all.length > shownEndpoints ? `${shown} + ${all.length - shownEndpoints} more...` : shown
}

function endpointsOf({ addresses = [], ports = [] }: EndpointSubset): readonly string[] {
  if (ports.length === 0) return addresses.map(({ ip = '' }) => ip)
  return ports.flatMap(({ port = 0 }) => addresses.map(({ ip = '' }) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`))
}

export const endpoints = defineResource<Endpoints>({
  group: '',
  kind: 'Endpoints',
  resource: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  validate,
  checks: { update: ['metadataChange', 'metadata', 'own'] },
  createOnUpdate: true,
  table: {
    columns: [nameColumn, textColumn('Endpoints', 'The first ready endpoints.'), ageColumn],
    cells: (object, { now }) => [object.metadata?.name ?? '', describeEndpoints(object), ageOf(object.metadata?.creationTimestamp, now)],
  },
})
