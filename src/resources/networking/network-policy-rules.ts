// The rules of network policies: peers that are of one sort, ports that are ports.

import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { isStrictPart, parseCidr } from '../../api/validation/cidr.js'
import { checkEach, checkOptionalChoice, checkPart, joined } from '../../api/validation/collect.js'
import { checkPort, noErrors } from '../../api/validation/fields.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { checkPortOrName } from '../../api/validation/port-name.js'
import type { IPBlock, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from './v1.schema.js'

const protocols = ['TCP', 'UDP', 'SCTP']
const policyTypes = ['Ingress', 'Egress']

export const validatePolicySpec = (spec: NetworkPolicySpec, field: string): readonly FieldError[] =>
  joined(
    validateLabelSelector(spec.podSelector, `${field}.podSelector`),
    checkEach(spec.ingress, `${field}.ingress`, ({ ports, from }, at) =>
      joined(checkEach(ports, `${at}.ports`, validatePort), checkEach(from, `${at}.from`, validatePeer)),
    ),
    checkEach(spec.egress, `${field}.egress`, ({ ports, to }, at) =>
      joined(checkEach(ports, `${at}.ports`, validatePort), checkEach(to, `${at}.to`, validatePeer)),
    ),
    validateTypes(spec.policyTypes ?? [], `${field}.policyTypes`),
  )

function validateTypes(types: readonly string[], field: string): readonly FieldError[] {
  if (types.length > policyTypes.length) return [invalid(field, types, 'may not specify more than two policyTypes')]
  return checkEach(types, field, (type, at) => (policyTypes.includes(type) ? noErrors : [notSupported(at, type, policyTypes)]))
}

/** Ports by number may be the first of a range. */
function validatePort({ protocol, port, endPort }: NetworkPolicyPort, field: string): readonly FieldError[] {
  return joined(checkOptionalChoice(protocol, `${field}.protocol`, protocols), validateRange(port, endPort, field))
}

function validateRange(port: number | string | undefined, endPort: number | undefined, field: string): readonly FieldError[] {
  const end = `${field}.endPort`
  if (port === undefined) {
    return endPort === undefined ? noErrors : [invalid(end, endPort, 'may not be specified when `port` is not specified')]
  }
  if (typeof port === 'string') {
    const unfit = endPort === undefined ? noErrors : [invalid(end, endPort, 'may not be specified when `port` is non-numeric')]
    return joined(unfit, checkPortOrName(port, `${field}.port`))
  }
  return joined(
    checkPort(port, `${field}.port`),
    endPort !== undefined && endPort < port ? [invalid(end, port, 'must be greater than or equal to `port`')] : noErrors,
    endPort === undefined ? noErrors : checkPort(endPort, end),
  )
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, field: string): readonly FieldError[] {
  const isSelected = podSelector !== undefined || namespaceSelector !== undefined
  return joined(
    validateLabelSelector(podSelector, `${field}.podSelector`),
    validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`),
    checkPart(ipBlock, `${field}.ipBlock`, validateBlock),
    isSelected || ipBlock !== undefined ? noErrors : [required(field, 'must specify a peer')],
    isSelected && ipBlock !== undefined ? [forbidden(field, 'may not specify both ipBlock and another peer')] : noErrors,
  )
}

function validateBlock({ cidr = '', except = [] }: IPBlock, field: string): readonly FieldError[] {
  if (cidr === '') return [required(`${field}.cidr`)]
  const whole = parseCidr(cidr)
  if (whole === undefined) return [invalid(`${field}.cidr`, cidr, 'not a valid CIDR')]
  // The first exception that is no range ends the search.
  const firstWrong = except.findIndex((range) => parseCidr(range) === undefined)
  const seen = firstWrong < 0 ? except : except.slice(0, firstWrong + 1)
  return checkEach(seen, `${field}.except`, (range, at) => {
    const part = parseCidr(range)
    if (part === undefined) return [invalid(at, range, 'not a valid CIDR')]
    return isStrictPart(part, whole) ? noErrors : [invalid(at, range, 'must be a strict subset of `cidr`')]
  })
}
