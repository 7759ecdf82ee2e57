// The rules of balancers in front of a service, and of where its traffic may go.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import { parseCidr } from '../../api/validation/cidr.js'
import { checkChoice, checkOptionalChoice, joined } from '../../api/validation/collect.js'
import { checkPort, checkText, noErrors } from '../../api/validation/fields.js'
import { qualifiedName } from '../../api/validation/text-rules.js'
import { hasInternalTraffic, needsHealthPort, usesNodePorts } from './service-needs.js'
import type { Service, ServiceSpec } from './v1.schema.js'

const policies = ['Cluster', 'Local']
const balancersOnly = "may only be used when `type` is 'LoadBalancer'"

export function validateBalancer({ metadata, spec = {} }: Service, { identity }: RuleContext): readonly FieldError[] {
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
      ? [forbidden('spec.allocateLoadBalancerNodePorts', balancersOnly)]
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
    isBalancer ? noErrors : [forbidden(field, balancersOnly)],
    areRanges ? noErrors : [invalid(field, shown, 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ')],
  )
}

export function validateBalancerClass({ type, loadBalancerClass }: ServiceSpec): readonly FieldError[] {
  if (loadBalancerClass === undefined) return noErrors
  const field = 'spec.loadBalancerClass'
  return type === 'LoadBalancer' ? checkText(loadBalancerClass, field, qualifiedName) : [forbidden(field, balancersOnly)]
}

export function validateTraffic(spec: ServiceSpec): readonly FieldError[] {
  const { internalTrafficPolicy } = spec
  const field = 'spec.internalTrafficPolicy'
  return joined(
    validateExternalPolicy(spec),
    validateHealthPort(spec),
    internalTrafficPolicy === undefined && hasInternalTraffic(spec) ? [required(field)] : noErrors,
    checkOptionalChoice(internalTrafficPolicy, field, policies),
  )
}

function validateExternalPolicy(spec: ServiceSpec): readonly FieldError[] {
  const { externalTrafficPolicy = '' } = spec
  const field = 'spec.externalTrafficPolicy'
  if (usesNodePorts(spec)) return checkChoice(externalTrafficPolicy, field, policies)
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
