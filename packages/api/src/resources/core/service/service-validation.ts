// Validation of Services by type: ports, cluster IPs and families, load balancers, traffic policies, immutable fields.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import {
  checkChoice,
  checkEach,
  checkOptional,
  checkOptionalChoice,
  checkPort,
  checkText,
  joined,
  noErrors,
} from '../../../api/validation/checks.js'
import { validateLabels } from '../../../api/validation/metadata/labels.js'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../api/validation/name-formats.js'
import { parseCidr } from '../../../api/validation/network/cidr.js'
import { checkReachableIp, ipAddress, parseIp } from '../../../api/validation/network/ip.js'
import { familyOf } from '../../../api/validation/network/ip-text.js'
import { checkPortOrName } from '../../../api/validation/network/port-name.js'
import { sortTexts } from '../../../base/text-order.js'
import type { Service, ServicePort, ServiceSpec, SessionAffinityConfig } from '../v1.schema.js'
import { hasInternalTraffic, headless, isHeadless, needsAddress, needsHealthPort, usesNodePorts } from './service-type.js'

interface BalancerIngress {
  readonly ip?: string
  readonly hostname?: string
}

export const validateBalancerStatus = (ingresses: readonly BalancerIngress[] | undefined, field: string): readonly FieldError[] =>
  checkEach(ingresses, `${field}.ingress`, ({ ip = '', hostname = '' }, at) =>
    joined(
      ip === '' || parseIp(ip) !== undefined ? noErrors : [invalid(`${at}.ip`, ip, 'must be a valid IP address')],
      hostname === '' ? noErrors : checkText(hostname, `${at}.hostname`, dnsSubdomain),
      hostname === '' || parseIp(hostname) === undefined
        ? noErrors
        : [invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address')],
    ),
  )

export const describeBalancer = (ingresses: readonly BalancerIngress[] = []): readonly string[] =>
  sortTexts([...new Set(ingresses.map(({ ip = '', hostname = '' }) => ip || hostname))].filter((address) => address !== ''))

const trafficPolicies = ['Cluster', 'Local']
const balancerOnlyProblem = "may only be used when `type` is 'LoadBalancer'"

function validateBalancer({ metadata, spec = {} }: Service, { identity }: RuleContext): readonly FieldError[] {
  const isBalancer = spec.type === 'LoadBalancer'
  const { loadBalancerSourceRanges: ranges = [], allocateLoadBalancerNodePorts } = spec
  const annotation = identity.label('load-balancer-source-ranges', 'service.beta')
  const annotated = ranges.length === 0 ? metadata?.annotations?.[annotation] : undefined
  return joined(
    ranges.length > 0
      ? validateRanges(ranges, { field: 'spec.LoadBalancerSourceRanges', shown: `[${ranges.join(' ')}]`, isBalancer })
      : noErrors,
    annotated === undefined
      ? noErrors
      : validateRanges(rangesOf(annotated), { field: `metadata.annotations[${annotation}]`, shown: annotated, isBalancer }),
    allocateLoadBalancerNodePorts !== undefined && !isBalancer
      ? [forbidden('spec.allocateLoadBalancerNodePorts', balancerOnlyProblem)]
      : noErrors,
    isBalancer && allocateLoadBalancerNodePorts === undefined ? [required('allocateLoadBalancerNodePorts')] : noErrors,
  )
}

interface RangeSource {
  readonly field: string
  readonly shown: string
  readonly isBalancer: boolean
}

const rangesOf = (annotation: string): readonly string[] => (annotation.trim() === '' ? [] : annotation.split(','))

function validateRanges(ranges: readonly string[], { field, shown, isBalancer }: RangeSource): readonly FieldError[] {
  const areRanges = ranges.every((range) => parseCidr(range.trim()) !== undefined)
  return joined(
    isBalancer ? noErrors : [forbidden(field, balancerOnlyProblem)],
    areRanges ? noErrors : [invalid(field, shown, 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ')],
  )
}

function validateBalancerClass({ type, loadBalancerClass }: ServiceSpec): readonly FieldError[] {
  if (loadBalancerClass === undefined) return noErrors
  const field = 'spec.loadBalancerClass'
  return type === 'LoadBalancer' ? checkText(loadBalancerClass, field, qualifiedName) : [forbidden(field, balancerOnlyProblem)]
}

function validateTraffic(spec: ServiceSpec): readonly FieldError[] {
  const { internalTrafficPolicy } = spec
  const field = 'spec.internalTrafficPolicy'
  return joined(
    validateExternalPolicy(spec),
    validateHealthPort(spec),
    internalTrafficPolicy === undefined && hasInternalTraffic(spec) ? [required(field)] : noErrors,
    checkOptionalChoice(internalTrafficPolicy, field, trafficPolicies),
  )
}

function validateExternalPolicy(spec: ServiceSpec): readonly FieldError[] {
  const { externalTrafficPolicy = '' } = spec
  const field = 'spec.externalTrafficPolicy'
  if (usesNodePorts(spec)) return checkChoice(externalTrafficPolicy, field, trafficPolicies)
  if (externalTrafficPolicy === '') return noErrors
  return [invalid(field, externalTrafficPolicy, "may only be set when `type` is 'NodePort' or 'LoadBalancer'")]
}

function validateHealthPort(spec: ServiceSpec): readonly FieldError[] {
  const { healthCheckNodePort: port = 0 } = spec
  const field = 'spec.healthCheckNodePort'
  if (needsHealthPort(spec)) return port === 0 ? [required(field)] : checkPort(port, field)
  if (port === 0) return noErrors
  return [invalid(field, port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")]
}

const families = ['IPv4', 'IPv6']
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
const addressesField = 'spec.clusterIPs'
const familiesField = 'spec.ipFamilies'
const policyField = 'spec.ipFamilyPolicy'
const maxAddresses = 2

/** Skips ExternalName Services, which must not have addresses. */
export function validateAddresses(spec: ServiceSpec): readonly FieldError[] {
  if (!needsAddress(spec)) return noErrors
  const addresses = spec.clusterIPs ?? []
  const basicErrors = joined(
    validateClusterIp(spec, addresses),
    validateFamilies(spec.ipFamilies),
    checkOptionalChoice(spec.ipFamilyPolicy, policyField, familyPolicies),
    validateEachAddress(addresses),
    addresses.length > maxAddresses ? [invalid(addressesField, addresses, 'may only hold up to 2 values')] : noErrors,
  )
  return hasInvalidAddress(addresses) ? basicErrors : joined(basicErrors, validateStacks(addresses), validateAgreement(spec, addresses))
}

/** clusterIP equals the first of clusterIPs. */
function validateClusterIp({ clusterIP = '' }: ServiceSpec, addresses: readonly string[]): readonly FieldError[] {
  if (clusterIP === '') {
    return addresses.length === 0 ? noErrors : [invalid(addressesField, addresses, 'must be empty when `clusterIP` is not specified')]
  }
  if (addresses.length === 0) return [required(addressesField)]
  return addresses[0] === clusterIP ? noErrors : [invalid(addressesField, addresses, 'first value must match `clusterIP`')]
}

function validateFamilies(ipFamilies: readonly string[] | undefined): readonly FieldError[] {
  return checkEach(ipFamilies, familiesField, (family, at, i) =>
    joined(
      families.includes(family) ? noErrors : [notSupported(at, family, families)],
      ipFamilies?.indexOf(family) === i ? noErrors : [duplicate(at, family)],
    ),
  )
}

const validateEachAddress = (addresses: readonly string[]): readonly FieldError[] =>
  checkEach(addresses, addressesField, (address, at, i) => {
    if (i !== 0 || address !== headless) return checkText(address, at, ipAddress)
    return addresses.length === 1 ? noErrors : [invalid(addressesField, addresses, "'None' must be the first and only value")]
  })

const hasInvalidAddress = (addresses: readonly string[]): boolean =>
  addresses.some((address, i) => (i === 0 && address === headless ? addresses.length > 1 : familyOf(address) === undefined))

function validateStacks(addresses: readonly string[]): readonly FieldError[] {
  if (addresses.length < 2 || new Set(addresses.map(familyOf)).size === 2) return noErrors
  return [invalid(addressesField, addresses, 'may specify no more than one IP for each IP family')]
}

function validateAgreement(spec: ServiceSpec, addresses: readonly string[]): readonly FieldError[] {
  const { ipFamilies = [] } = spec
  if (isHeadless(spec) || ipFamilies.length === 0) return noErrors
  return checkEach(addresses, addressesField, (address, at, i) => {
    const family = ipFamilies[i]
    if (family === undefined || !families.includes(family) || family === familyOf(address)) return noErrors
    return [invalid(at, address, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``)]
  })
}

const immutableProblem = 'may not change once set'

/** The first address and family are immutable; a second may be added or removed, not changed. Skips changes to or from ExternalName. */
function validateAddressChange({ spec: next = {} }: Service, { spec: old = {} }: Service): readonly FieldError[] {
  if (!needsAddress(next) || !needsAddress(old) || (isHeadless(next) && isHeadless(old))) return noErrors
  // A change to or from headless changes the families, too.
  const families = isHeadless(next) === isHeadless(old) ? validateFamilyListChange(next, old) : noErrors
  return joined(validateAddressListChange(next, old), families)
}

function validateAddressListChange(next: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  const [after, before] = [next.clusterIPs ?? [], old.clusterIPs ?? []]
  const first = `${addressesField}[0]`
  if (after.length === before.length) {
    return checkEach(before, addressesField, (address, at, i) => (address === after[i] ? noErrors : [invalid(at, after, immutableProblem)]))
  }
  const isFirstChanged = before.length > 0 && after.length > 0 && after[0] !== before[0]
  return joined(
    after.length === 0 ? [invalid(first, after, 'primary clusterIP can not be unset')] : noErrors,
    isFirstChanged ? [invalid(first, after, immutableProblem)] : noErrors,
    after.length === 1 && before.length > 1 ? validateRelease(next, 'clusterIP') : noErrors,
  )
}

function validateFamilyListChange(next: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  const [after, before] = [next.ipFamilies ?? [], old.ipFamilies ?? []]
  const first = `${familiesField}[0]`
  if (after.length === before.length) {
    const changed = before.filter((family, i) => family !== after[i])
    return changed.map(() => invalid(first, after, immutableProblem))
  }
  const isFirstChanged = before.length > 0 && after.length > 0 && after[0] !== before[0]
  const isReleased = before.length > after.length
  return joined(
    isReleased && (next.clusterIPs ?? []).length === 0 ? [invalid(first, after, 'primary ipFamily can not be unset')] : noErrors,
    isFirstChanged ? [invalid(first, after, immutableProblem)] : noErrors,
    isReleased && after.length === 1 ? validateRelease(next, 'ipFamily') : noErrors,
  )
}

const validateRelease = ({ ipFamilyPolicy }: ServiceSpec, noun: string): readonly FieldError[] =>
  ipFamilyPolicy === 'SingleStack'
    ? noErrors
    : [invalid(policyField, ipFamilyPolicy, `must be set to 'SingleStack' when releasing the secondary ${noun}`)]

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const protocols = ['SCTP', 'TCP', 'UDP']
const affinities = ['ClientIP', 'None']
const maxAffinitySeconds = 86400
/** Kubelet port, which load balancers must not expose. */
const kubeletPort = 10250

export function validateService(service: Service, context: RuleContext): readonly FieldError[] {
  const { spec = {} } = service
  return joined(
    validatePortsPresent(spec),
    validateByType(spec),
    validatePorts(spec),
    validateLabels(spec.selector, 'spec.selector'),
    validateAffinity(spec),
    validateAddresses(spec),
    checkEach(spec.externalIPs, 'spec.externalIPs', (ip, at) => {
      const errors = checkText(ip, at, ipAddress)
      return errors.length > 0 ? errors : checkReachableIp(ip, at)
    }),
    checkChoice(spec.type, 'spec.type', types),
    validatePortNumbers(spec),
    validateBalancer(service, context),
    validateBalancerClass(spec),
    validateTraffic(spec),
  )
}

const validatePortsPresent = (spec: ServiceSpec): readonly FieldError[] =>
  (spec.ports ?? []).length > 0 || isHeadless(spec) || !needsAddress(spec) ? noErrors : [required('spec.ports')]

function validateByType(spec: ServiceSpec): readonly FieldError[] {
  switch (spec.type) {
    case 'LoadBalancer':
      return joined(
        checkEach(spec.ports, 'spec.ports', ({ port }, at) =>
          port === kubeletPort
            ? [invalid(at, port, `may not expose port ${kubeletPort} externally since it is used by kubelet`)]
            : noErrors,
        ),
        validateNotHeadless(spec),
      )
    case 'NodePort':
      return validateNotHeadless(spec)
    case 'ExternalName':
      return validateExternalName(spec)
    default:
      return noErrors
  }
}

const validateNotHeadless = (spec: ServiceSpec): readonly FieldError[] =>
  isHeadless(spec) ? [invalid('spec.clusterIPs[0]', spec.clusterIPs?.[0], `may not be set to 'None' for ${spec.type} services`)] : noErrors

/** ExternalName Services must not have cluster IPs or families. */
function validateExternalName({ clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = '' }: ServiceSpec): readonly FieldError[] {
  const name = externalName.endsWith('.') ? externalName.slice(0, -1) : externalName
  const externalNameProblem = 'may not be set for ExternalName services'
  return joined(
    clusterIPs.length > 0 ? [forbidden('spec.clusterIPs', externalNameProblem)] : noErrors,
    ipFamilies.length > 0 ? [forbidden('spec.ipFamilies', externalNameProblem)] : noErrors,
    ipFamilyPolicy !== undefined ? [forbidden('spec.ipFamilyPolicy', externalNameProblem)] : noErrors,
    name === '' ? [required('spec.externalName')] : checkText(name, 'spec.externalName', dnsSubdomain),
  )
}

function validatePorts({ ports = [] }: ServiceSpec): readonly FieldError[] {
  const names = new Set<string>()
  return checkEach(ports, 'spec.ports', (port, at) => {
    const { name = '' } = port
    const isRepeated = name !== '' && names.has(name)
    names.add(name)
    return joined(
      name === '' ? (ports.length > 1 ? [required(`${at}.name`)] : noErrors) : checkText(name, `${at}.name`, dnsLabel),
      isRepeated ? [duplicate(`${at}.name`, name)] : noErrors,
      validatePort(port, at),
    )
  })
}

const validatePort = ({ port = 0, protocol, targetPort = 0, appProtocol }: ServicePort, field: string): readonly FieldError[] =>
  joined(
    checkPort(port, `${field}.port`),
    checkChoice(protocol, `${field}.protocol`, protocols),
    checkPortOrName(targetPort, `${field}.targetPort`),
    checkOptional(appProtocol, `${field}.appProtocol`, (text, at) => checkText(text, at, qualifiedName)),
  )

function validatePortNumbers({ type, ports }: ServiceSpec): readonly FieldError[] {
  const [nodePorts, servicePorts] = [new Set<string>(), new Set<string>()]
  return joined(
    type !== 'ClusterIP'
      ? noErrors
      : checkEach(ports, 'spec.ports', ({ nodePort = 0 }, at) =>
          nodePort === 0 ? noErrors : [forbidden(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'")],
        ),
    checkEach(ports, 'spec.ports', ({ nodePort = 0, protocol }, at) => {
      if (nodePort === 0 || isNew(nodePorts, `${nodePort}/${protocol}`)) return noErrors
      return [duplicate(`${at}.nodePort`, nodePort)]
    }),
    checkEach(ports, 'spec.ports', ({ port = 0, protocol = '' }, at) =>
      isNew(servicePorts, `${port}/${protocol}`) ? noErrors : [duplicate(at, { protocol, port })],
    ),
  )
}

function isNew(seen: Set<string>, key: string): boolean {
  if (seen.has(key)) return false
  seen.add(key)
  return true
}

function validateAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): readonly FieldError[] {
  const field = 'spec.sessionAffinityConfig'
  return joined(
    checkChoice(sessionAffinity, 'spec.sessionAffinity', affinities),
    sessionAffinity === 'ClientIP' ? validateAffinityTime(sessionAffinityConfig, field) : noErrors,
    sessionAffinity === 'None' && sessionAffinityConfig !== undefined
      ? [forbidden(field, 'must not be set when session affinity is None')]
      : noErrors,
  )
}

function validateAffinityTime(config: SessionAffinityConfig | undefined, field: string): readonly FieldError[] {
  const condition = 'when session affinity type is ClientIP'
  if (config === undefined) return [required(field, condition)]
  if (config.clientIP === undefined) return [required(`${field}.clientIP`, condition)]
  const { timeoutSeconds } = config.clientIP
  const at = `${field}.clientIP.timeoutSeconds`
  if (timeoutSeconds === undefined) return [required(at, condition)]
  const isValid = timeoutSeconds > 0 && timeoutSeconds <= maxAffinitySeconds
  return isValid ? noErrors : [invalid(at, timeoutSeconds, `must be greater than 0 and less than ${maxAffinitySeconds}`)]
}

export const validateServiceChange = (next: Service, old: Service): readonly FieldError[] =>
  joined(validateAddressChange(next, old), validateBalancerChange(next.spec ?? {}, old.spec ?? {}))

/** loadBalancerClass is immutable while the type stays LoadBalancer, healthCheckNodePort while externalTrafficPolicy also stays Local. */
function validateBalancerChange(next: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  const staysBalancer = next.type === 'LoadBalancer' && old.type === 'LoadBalancer'
  return joined(
    staysBalancer && next.loadBalancerClass !== old.loadBalancerClass
      ? [invalid('spec.loadBalancerClass', next.loadBalancerClass, 'may not change once set')]
      : noErrors,
    validateBalancerClass(next),
    needsHealthPort(next) && needsHealthPort(old) && next.healthCheckNodePort !== old.healthCheckNodePort
      ? [forbidden('spec.healthCheckNodePort', 'field is immutable')]
      : noErrors,
  )
}
