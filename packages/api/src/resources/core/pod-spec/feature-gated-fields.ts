// Fields of pod specs that belong to a feature: without it they are dropped, unless the stored object has them already.

import type { FeatureGates } from '../../../api/definition.js'
import type { PodSpec, PodTemplateSpec, TopologySpreadConstraint } from '../v1.schema.js'
import { type AnyContainer, mapContainers, mapItems, visitContainers } from './all-containers.js'
import { withChanged } from './missing-members.js'

interface GatedField {
  readonly gate: string
  /** Whether a spec uses the field. */
  readonly uses: (spec: PodSpec) => boolean
  readonly drop: (spec: PodSpec) => PodSpec
}

const without = <T extends object, Name extends keyof T>(object: T, name: Name): T => {
  if (object[name] === undefined) return object
  const { [name]: _, ...rest } = object
  return rest as unknown as T
}

const ofSpec = (gate: string, name: 'hostUsers' | 'schedulingGates'): GatedField => ({
  gate,
  uses: (spec) => spec[name] !== undefined,
  drop: (spec) => without(spec, name),
})

const ofSpread = (gate: string, ...names: readonly (keyof TopologySpreadConstraint)[]): GatedField => ({
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

const claims: GatedField = {
  gate: 'DynamicResourceAllocation',
  uses: (spec) => spec.resourceClaims !== undefined || anyContainer(spec, ({ resources }) => resources?.claims !== undefined),
  drop: (spec) =>
    mapContainers(without(spec, 'resourceClaims'), (container) =>
      container.resources?.claims === undefined ? container : { ...container, resources: without(container.resources, 'claims') },
    ),
}

const masked = 'Default'

/** Early releases stored this field in every object, so that it is reset and not dropped. */
const procMount: GatedField = {
  gate: 'ProcMountType',
  uses: (spec) => anyContainer(spec, ({ securityContext }) => (securityContext?.procMount ?? masked) !== masked),
  drop: (spec) =>
    mapContainers(spec, (container) =>
      (container.securityContext?.procMount ?? masked) === masked
        ? container
        : { ...container, securityContext: { ...container.securityContext, procMount: masked } },
    ),
}

const probeNames = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const

const ofProbes = (gate: string, name: 'grpc' | 'terminationGracePeriodSeconds'): GatedField => ({
  gate,
  uses: (spec) => anyContainer(spec, (container) => probeNames.some((probe) => container[probe]?.[name] !== undefined)),
  drop: (spec) =>
    mapContainers(spec, (container) =>
      probeNames.reduce((next, probe) => withChanged(next, probe, (value) => without(value, name) as typeof value), container),
    ),
})

const gatedFields: readonly GatedField[] = [
  ofProbes('ProbeTerminationGracePeriod', 'terminationGracePeriodSeconds'),
  ofProbes('GRPCContainerProbe', 'grpc'),
  procMount,
  ofSpread('MinDomainsInPodTopologySpread', 'minDomains'),
  ofSpread('NodeInclusionPolicyInPodTopologySpread', 'nodeAffinityPolicy', 'nodeTaintsPolicy'),
  ofSpread('MatchLabelKeysInPodTopologySpread', 'matchLabelKeys'),
  ofSpec('UserNamespacesStatelessPodsSupport', 'hostUsers'),
  ofSpec('PodSchedulingReadiness', 'schedulingGates'),
  claims,
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
