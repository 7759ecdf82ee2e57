// Endpoints: addresses and ports of a Service in subsets.

import { defineResource } from '../../../api/definition/resource-definition.js'
import { type FieldError, invalid, notSupported, required } from '../../../api/field-error.js'
import { checkPort, checkText, dnsSubdomainProblems } from '../../../api/validation/checks.js'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../api/validation/name-formats.js'
import { checkReachableIp, ipAddress, ipText, parseIp } from '../../../api/validation/network/ip.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../../printer-columns.js'
import { type EndpointAddress, type EndpointPort, type EndpointSubset, type Endpoints, endpoints as schema } from '../v1.schema.js'

const protocols = ['SCTP', 'TCP', 'UDP']

const hasProtocol = ({ protocol = '' }: EndpointPort): boolean => protocol !== ''
const withProtocol = (port: EndpointPort): EndpointPort => (hasProtocol(port) ? port : { ...port, protocol: 'TCP' })

function defaults(endpoints: Endpoints): Endpoints {
  const isComplete = (endpoints.subsets ?? []).every(({ ports = [] }) => ports.every(hasProtocol))
  if (isComplete || endpoints.subsets === undefined) return endpoints
  const withProtocols = (subset: EndpointSubset): EndpointSubset =>
    subset.ports === undefined ? subset : { ...subset, ports: subset.ports.map(withProtocol) }
  return { ...endpoints, subsets: endpoints.subsets.map(withProtocols) }
}

const validate = ({ subsets = [] }: Endpoints): readonly FieldError[] =>
  subsets.flatMap((subset, i) => validateSubset(subset, `subsets[${i}]`))

function validateSubset({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset, field: string): readonly FieldError[] {
  const isEmpty = addresses.length === 0 && notReadyAddresses.length === 0
  return [
    ...(isEmpty ? [required(field, 'must specify `addresses` or `notReadyAddresses`')] : []),
    ...addresses.flatMap((address, i) => validateAddress(address, `${field}.addresses[${i}]`)),
    ...notReadyAddresses.flatMap((address, i) => validateAddress(address, `${field}.notReadyAddresses[${i}]`)),
    ...checkDisjoint(addresses, notReadyAddresses, `${field}.notReadyAddresses`),
    ...ports.flatMap((port, i) => validatePort(port, `${field}.ports[${i}]`, { needsName: ports.length > 1 })),
  ]
}

/** An address is either ready or not; IPs are compared in canonical notation. */
function checkDisjoint(ready: readonly EndpointAddress[], others: readonly EndpointAddress[], field: string): readonly FieldError[] {
  if (ready.length === 0 || others.length === 0) return []
  const known = new Set(ready.map(canonicalIp))
  return others.flatMap((address, i) =>
    known.has(canonicalIp(address))
      ? [invalid(`${field}[${i}].ip`, address.ip ?? '', 'may not be in both `addresses` and `notReadyAddresses` of a subset')]
      : [],
  )
}

function canonicalIp({ ip = '' }: EndpointAddress): string {
  const bytes = parseIp(ip)
  return bytes === undefined ? ip : ipText(bytes)
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

const maxShownEndpoints = 3

function describeEndpoints({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return '<none>'
  const all = subsets.flatMap(endpointsOf)
  const shown = all.slice(0, maxShownEndpoints).join(',')
  return all.length > maxShownEndpoints ? `${shown} + ${all.length - maxShownEndpoints} more...` : shown
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
  checks: { update: ['metadataChange', 'metadata', 'validate'] },
  createOnUpdate: true,
  table: tableOf<Endpoints>(
    nameColumn,
    textColumn('Endpoints', 'First ready endpoints.', (object) => describeEndpoints(object)),
    ageColumn,
  ),
})
