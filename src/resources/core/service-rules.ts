// The rules of services: what each type must have and must not have, and ports that are told apart.

import type { RuleContext } from '../../api/definition.js'
import { duplicate, type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import { checkChoice, checkEach, checkPart, joined } from '../../api/validation/collect.js'
import { checkPort, checkText, noErrors } from '../../api/validation/fields.js'
import { checkReachableIp, ipAddress } from '../../api/validation/ip.js'
import { validateLabels } from '../../api/validation/labels.js'
import { checkPortOrName } from '../../api/validation/port-name.js'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../api/validation/text-rules.js'
import { validateAddressChange, validateAddresses } from './service-address-rules.js'
import { isHeadless, needsAddress, needsHealthPort } from './service-needs.js'
import { validateBalancer, validateBalancerClass, validateTraffic } from './service-traffic-rules.js'
import type { Service, ServicePort, ServiceSpec, SessionAffinityConfig } from './v1.schema.js'

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const protocols = ['SCTP', 'TCP', 'UDP']
const affinities = ['ClientIP', 'None']
const maxAffinitySeconds = 86400
/** Cloud balancers that open a port too widely must not open the one on which nodes are commanded. */
const nodeAgentPort = 10250

export function validateService(service: Service, context: RuleContext): readonly FieldError[] {
  const { spec = {} } = service
  return joined(
    validatePresence(spec),
    validateOfType(spec),
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

const validatePresence = (spec: ServiceSpec): readonly FieldError[] =>
  (spec.ports ?? []).length > 0 || isHeadless(spec) || !needsAddress(spec) ? noErrors : [required('spec.ports')]

function validateOfType(spec: ServiceSpec): readonly FieldError[] {
  switch (spec.type) {
    case 'LoadBalancer':
      return joined(
        checkEach(spec.ports, 'spec.ports', ({ port }, at) =>
          port === nodeAgentPort
            ? [invalid(at, port, `may not expose port ${nodeAgentPort} externally since it is used by kubelet`)]
            : noErrors,
        ),
        validateNotHeadless(spec),
      )
    case 'NodePort':
      return validateNotHeadless(spec)
    case 'ExternalName':
      return validateAlias(spec)
    default:
      return noErrors
  }
}

const validateNotHeadless = (spec: ServiceSpec): readonly FieldError[] =>
  isHeadless(spec) ? [invalid('spec.clusterIPs[0]', spec.clusterIPs?.[0], `may not be set to 'None' for ${spec.type} services`)] : noErrors

/** A service that stands for another name has that name, and nothing of its own. */
function validateAlias({ clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = '' }: ServiceSpec): readonly FieldError[] {
  const name = externalName.endsWith('.') ? externalName.slice(0, -1) : externalName
  const unfit = 'may not be set for ExternalName services'
  return joined(
    clusterIPs.length > 0 ? [forbidden('spec.clusterIPs', unfit)] : noErrors,
    ipFamilies.length > 0 ? [forbidden('spec.ipFamilies', unfit)] : noErrors,
    ipFamilyPolicy !== undefined ? [forbidden('spec.ipFamilyPolicy', unfit)] : noErrors,
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
    checkPart(appProtocol, `${field}.appProtocol`, (text, at) => checkText(text, at, qualifiedName)),
  )

/** Ports are told apart by number and protocol, on the service and on the nodes. */
function validatePortNumbers({ type, ports }: ServiceSpec): readonly FieldError[] {
  const [onNodes, onService] = [new Set<string>(), new Set<string>()]
  return joined(
    type !== 'ClusterIP'
      ? noErrors
      : checkEach(ports, 'spec.ports', ({ nodePort = 0 }, at) =>
          nodePort === 0 ? noErrors : [forbidden(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'")],
        ),
    checkEach(ports, 'spec.ports', ({ nodePort = 0, protocol }, at) => {
      if (nodePort === 0 || isNew(onNodes, `${nodePort}/${protocol}`)) return noErrors
      return [duplicate(`${at}.nodePort`, nodePort)]
    }),
    checkEach(ports, 'spec.ports', ({ port = 0, protocol = '' }, at) =>
      isNew(onService, `${port}/${protocol}`) ? noErrors : [duplicate(at, { protocol, port })],
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
  const why = 'when session affinity type is ClientIP'
  if (config === undefined) return [required(field, why)]
  if (config.clientIP === undefined) return [required(`${field}.clientIP`, why)]
  const { timeoutSeconds } = config.clientIP
  const at = `${field}.clientIP.timeoutSeconds`
  if (timeoutSeconds === undefined) return [required(at, why)]
  const fits = timeoutSeconds > 0 && timeoutSeconds <= maxAffinitySeconds
  return fits ? noErrors : [invalid(at, timeoutSeconds, `must be greater than 0 and less than ${maxAffinitySeconds}`)]
}

export const validateServiceChange = (next: Service, old: Service): readonly FieldError[] =>
  joined(validateAddressChange(next, old), validateBalancerChange(next.spec ?? {}, old.spec ?? {}))

/** A balancer stays with whoever implements it, and its health checks on their port. */
function validateBalancerChange(next: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  const stays = next.type === 'LoadBalancer' && old.type === 'LoadBalancer'
  return joined(
    stays && next.loadBalancerClass !== old.loadBalancerClass
      ? [invalid('spec.loadBalancerClass', next.loadBalancerClass, 'may not change once set')]
      : noErrors,
    validateBalancerClass(next),
    needsHealthPort(next) && needsHealthPort(old) && next.healthCheckNodePort !== old.healthCheckNodePort
      ? [forbidden('spec.healthCheckNodePort', 'field is immutable')]
      : noErrors,
  )
}
