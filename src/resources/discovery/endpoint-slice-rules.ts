// The rules of endpoint slices: addresses of one type, ports that are told apart by name, and bounds on all that is listed.

import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../../api/field-error.js'
import { checkChoice, checkEach, checkPart, joined } from '../../api/validation/collect.js'
import { checkFullyQualifiedName } from '../../api/validation/domain-names.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { checkReachableIp } from '../../api/validation/ip.js'
import { familyOf } from '../../api/validation/ip-text.js'
import { validateLabels } from '../../api/validation/labels.js'
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../api/validation/text-rules.js'
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from './v1.schema.js'

const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const protocols = ['SCTP', 'TCP', 'UDP']
const limits = { endpoints: 1000, addresses: 100, topology: 16, ports: 20000, zones: 8 }

export function validateSlice({ addressType = '', endpoints = [], ports = [] }: EndpointSlice): readonly FieldError[] {
  return joined(
    checkChoice(addressType, 'addressType', addressTypes),
    endpoints.length > limits.endpoints
      ? [tooMany('endpoints', endpoints.length, limits.endpoints)]
      : checkEach(endpoints, 'endpoints', (endpoint, at) => validateEndpoint(endpoint, at, addressType)),
    ports.length > limits.ports ? [tooMany('ports', ports.length, limits.ports)] : validatePorts(ports),
  )
}

function validateEndpoint(endpoint: Endpoint, field: string, addressType: string): readonly FieldError[] {
  const { addresses = [], nodeName, deprecatedTopology = {}, hostname, hints } = endpoint
  const topologyCount = Object.keys(deprecatedTopology).length
  return joined(
    addresses.length === 0 ? [required(`${field}.addresses`, 'must contain at least 1 address')] : noErrors,
    addresses.length > limits.addresses ? [tooMany(`${field}.addresses`, addresses.length, limits.addresses)] : noErrors,
    checkEach(addresses, `${field}.addresses`, (address, at) => validateAddress(address, at, addressType)),
    checkPart(nodeName, `${field}.nodeName`, (name, at) => checkText(name, at, dnsSubdomain)),
    topologyCount > limits.topology ? [tooMany(`${field}.deprecatedTopology`, topologyCount, limits.topology)] : noErrors,
    validateLabels(deprecatedTopology, `${field}.deprecatedTopology`),
    checkPart(hostname, `${field}.hostname`, (name, at) => checkText(name, at, dnsLabel)),
    checkPart(hints, `${field}.hints`, validateHints),
  )
}

/** Addresses of a type that is not known are not looked at: the type itself is refused. */
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
  if (forZones.length > limits.zones) return [tooMany(at, forZones.length, limits.zones)]
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
      checkPart(appProtocol, `${at}.appProtocol`, (text, textAt) => checkText(text, textAt, qualifiedName)),
    )
  })
}
