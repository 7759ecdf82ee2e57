// Fields of pod specs behind feature gates: dropped if the gate is off, unless the old object has them.

import type { FeatureGates } from '../../../api/definition/resource-definition.js'
import type { PodSpec, PodTemplateSpec, TopologySpreadConstraint } from '../v1.schema.js'
import { type AnyContainer, mapContainers, mapItems, visitContainers, withChanged } from './visit-containers.js'

interface GatedField {
  readonly gate: string
  readonly uses: (spec: PodSpec) => boolean
  readonly drop: (spec: PodSpec) => PodSpec
}

const without = <T extends object, Name extends keyof T>(object: T, name: Name): T => {
  if (object[name] === undefined) return object
  const { [name]: _, ...rest } = object
  return rest as unknown as T
}

const specField = (gate: string, name: 'hostUsers' | 'schedulingGates'): GatedField => ({
  gate,
  uses: (spec) => spec[name] !== undefined,
  drop: (spec) => without(spec, name),
})

const spreadFields = (gate: string, ...names: readonly (keyof TopologySpreadConstraint)[]): GatedField => ({
  gate,
  uses: ({ topologySpreadConstraints = [] }) =>
    topologySpreadConstraints.some((spread) => names.some((name) => spread[name] !== undefined)),
  drop: (spec) =>
    withChanged(spec, 'topologySpreadConstraints', (constraints) =>
      mapItems(constraints, (constraint) => names.reduce<TopologySpreadConstraint>(without, constraint)),
    ),
})

const anyContainer = (spec: PodSpec, test: (container: AnyContainer) => boolean): boolean => {
  let found = false
  visitContainers(spec, '', (container) => {
    found ||= test(container)
  })
  return found
}

const resourceClaims: GatedField = {
  gate: 'DynamicResourceAllocation',
  uses: (spec) => spec.resourceClaims !== undefined || anyContainer(spec, ({ resources }) => resources?.claims !== undefined),
  drop: (spec) =>
    mapContainers(without(spec, 'resourceClaims'), (container) =>
      container.resources?.claims === undefined ? container : { ...container, resources: without(container.resources, 'claims') },
    ),
}

const defaultProcMount = 'Default'

const procMount: GatedField = {
  gate: 'ProcMountType',
  uses: (spec) => anyContainer(spec, ({ securityContext }) => (securityContext?.procMount ?? defaultProcMount) !== defaultProcMount),
  drop: (spec) =>
    mapContainers(spec, (container) =>
      (container.securityContext?.procMount ?? defaultProcMount) === defaultProcMount
        ? container
        : { ...container, securityContext: { ...container.securityContext, procMount: defaultProcMount } },
    ),
}

const probeNames = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const

const probeField = (gate: string, name: 'grpc' | 'terminationGracePeriodSeconds'): GatedField => ({
  gate,
  uses: (spec) => anyContainer(spec, (container) => probeNames.some((probe) => container[probe]?.[name] !== undefined)),
  drop: (spec) =>
    mapContainers(spec, (container) =>
      probeNames.reduce((next, probe) => withChanged(next, probe, (value) => without(value, name) as typeof value), container),
    ),
})

const gatedFields: readonly GatedField[] = [
  probeField('ProbeTerminationGracePeriod', 'terminationGracePeriodSeconds'),
  probeField('GRPCContainerProbe', 'grpc'),
  procMount,
  spreadFields('MinDomainsInPodTopologySpread', 'minDomains'),
  spreadFields('NodeInclusionPolicyInPodTopologySpread', 'nodeAffinityPolicy', 'nodeTaintsPolicy'),
  spreadFields('MatchLabelKeysInPodTopologySpread', 'matchLabelKeys'),
  specField('UserNamespacesStatelessPodsSupport', 'hostUsers'),
  specField('PodSchedulingReadiness', 'schedulingGates'),
  resourceClaims,
]

export function withoutGatedFields(spec: PodSpec, old: PodSpec | undefined, gates: FeatureGates): PodSpec {
  let next = spec
  for (const { gate, uses, drop } of gatedFields) {
    if (!gates(gate) && uses(next) && !(old !== undefined && uses(old))) next = drop(next)
  }
  return next
}

export function templateWithoutGatedFields(
  template: PodTemplateSpec,
  old: PodTemplateSpec | undefined,
  gates: FeatureGates,
): PodTemplateSpec {
  const spec = withoutGatedFields(template.spec ?? {}, old?.spec, gates)
  return spec === template.spec ? template : { ...template, spec }
}
