// What a container has when it does not say: how its image is pulled, where it leaves its last words, how it is probed.

import type { Container, EnvVar, HTTPGetAction, LifecycleHandler, ObjectFieldSelector, Probe, ResourceRequirements } from '../v1.schema.js'
import { type AnyContainer, mapItems } from './all-containers.js'
import { pullPolicyOf } from './images.js'
import { withChanged, withMissing } from './missing-members.js'
import { roundedResources } from './quantities.js'

const containerDefaults = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' } as const
const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const
const httpGetDefaults = { path: '/', scheme: 'HTTP' } as const

export function withContainerDefaults<T extends AnyContainer>(container: T): T {
  let next: Container = container
  if (next.imagePullPolicy === undefined) next = { ...next, imagePullPolicy: pullPolicyOf(next.image ?? '') }
  next = withMissing<Container>(next, containerDefaults)
  next = withChanged(next, 'ports', withProtocols)
  next = withChanged(next, 'env', (variables) => mapItems(variables, withVariableDefaults))
  next = withChanged(next, 'resources', withRoundedResources)
  next = withChanged(next, 'livenessProbe', withProbeDefaults)
  next = withChanged(next, 'readinessProbe', withProbeDefaults)
  next = withChanged(next, 'startupProbe', withProbeDefaults)
  next = withChanged(next, 'lifecycle', (lifecycle) =>
    withChanged(withChanged(lifecycle, 'postStart', withActionDefaults), 'preStop', withActionDefaults),
  )
  return next as T
}

const withProtocols = (ports: NonNullable<Container['ports']>): NonNullable<Container['ports']> =>
  mapItems(ports, (port) => (port.protocol === undefined ? { ...port, protocol: 'TCP' } : port))

const withVariableDefaults = (variable: EnvVar): EnvVar =>
  withChanged(variable, 'valueFrom', (source) =>
    withChanged(withChanged(source, 'fieldRef', withApiVersion), 'resourceFieldRef', withDivisor),
  )

export const withApiVersion = (reference: ObjectFieldSelector): ObjectFieldSelector => withMissing(reference, { apiVersion: 'v1' })

/** The zero stands for one unit of whatever the resource is. */
export const withDivisor = <T extends { readonly divisor?: string }>(reference: T): T =>
  reference.divisor === undefined ? { ...reference, divisor: '0' } : reference

export const withRoundedResources = (resources: ResourceRequirements): ResourceRequirements =>
  withChanged(withChanged(resources, 'limits', roundedResources), 'requests', roundedResources)

const withHttpDefaults = (action: HTTPGetAction): HTTPGetAction => withMissing<HTTPGetAction>(action, httpGetDefaults)

const withActionDefaults = (handler: LifecycleHandler): LifecycleHandler => withChanged(handler, 'httpGet', withHttpDefaults)

const withProbeDefaults = (probe: Probe): Probe =>
  withChanged(withChanged(withMissing<Probe>(probe, probeDefaults), 'httpGet', withHttpDefaults), 'grpc', (action) =>
    withMissing(action, { service: '' }),
  )

/** On the node's own network, a port is the node's port. */
export const withHostPorts = (containers: readonly Container[]): readonly Container[] =>
  mapItems(containers, (container) =>
    withChanged(container, 'ports', (ports) =>
      mapItems(ports, (port) =>
        port.hostPort === undefined && port.containerPort !== undefined ? { ...port, hostPort: port.containerPort } : port,
      ),
    ),
  )

/** A container that says only what it takes at most asks for as much. */
export const withRequests = (containers: readonly Container[]): readonly Container[] =>
  mapItems(containers, (container) => withChanged(container, 'resources', withRequestsOf))

function withRequestsOf(resources: ResourceRequirements): ResourceRequirements {
  if (resources.limits === undefined) return resources
  const requests = withMissing(resources.requests ?? {}, resources.limits)
  return requests === resources.requests ? resources : { ...resources, requests }
}
