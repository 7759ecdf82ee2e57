// Metrics of autoscalers as the two versions spell them: the first has one field per kind of target, the second a target of its own.

import type * as v1 from './v1.schema.js'
import type * as v2 from './v2.schema.js'

/** The members that are there; the others are left out. */
function present<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}

const zero = '0'

export function metricToV1({ type, object, pods, resource, containerResource, external }: v2.MetricSpec): v1.MetricSpec {
  return present<v1.MetricSpec>({
    type,
    object: object && objectToV1(object),
    pods: pods && present<v1.PodsMetricSource>({ ...namedToV1(pods.metric), targetAverageValue: pods.target?.averageValue ?? zero }),
    resource: resource && present<v1.ResourceMetricSource>({ name: resource.name, ...averagesToV1(resource.target) }),
    containerResource:
      containerResource &&
      present<v1.ContainerResourceMetricSource>({
        name: containerResource.name,
        container: containerResource.container,
        ...averagesToV1(containerResource.target),
      }),
    external: external && externalToV1(external),
  })
}

const namedToV1 = (metric: v2.MetricIdentifier | undefined) => ({ metricName: metric?.name, selector: metric?.selector })

const averagesToV1 = (target: v2.MetricTarget | undefined) => ({
  targetAverageUtilization: target?.averageUtilization,
  targetAverageValue: target?.averageValue,
})

const objectToV1 = ({ describedObject, metric, target }: v2.ObjectMetricSource): v1.ObjectMetricSource =>
  present<v1.ObjectMetricSource>({
    target: describedObject,
    ...namedToV1(metric),
    targetValue: target?.value ?? zero,
    averageValue: target?.averageValue,
  })

const externalToV1 = ({ metric, target }: v2.ExternalMetricSource): v1.ExternalMetricSource =>
  present<v1.ExternalMetricSource>({
    metricName: metric?.name,
    metricSelector: metric?.selector,
    targetValue: target?.value,
    targetAverageValue: target?.averageValue,
  })

export function metricToV2({ type, object, pods, resource, containerResource, external }: v1.MetricSpec): v2.MetricSpec {
  return present<v2.MetricSpec>({
    type,
    object: object && objectToV2(object),
    pods: pods && {
      metric: identifierToV2(pods.metricName, pods.selector),
      target: { type: 'AverageValue', averageValue: pods.targetAverageValue ?? zero },
    },
    resource: resource && present<v2.ResourceMetricSource>({ name: resource.name, target: averagesToV2(resource) }),
    containerResource:
      containerResource &&
      present<v2.ContainerResourceMetricSource>({
        name: containerResource.name,
        container: containerResource.container,
        target: averagesToV2(containerResource),
      }),
    external: external && externalToV2(external),
  })
}

const identifierToV2 = (name: string | undefined, selector: v2.MetricIdentifier['selector'] | undefined): v2.MetricIdentifier =>
  present<v2.MetricIdentifier>({ name, selector })

const averagesToV2 = (source: v1.ResourceMetricSource): v2.MetricTarget =>
  present<v2.MetricTarget>({
    type: source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
    averageValue: source.targetAverageValue,
    averageUtilization: source.targetAverageUtilization,
  })

const objectToV2 = ({ target, metricName, selector, targetValue, averageValue }: v1.ObjectMetricSource): v2.ObjectMetricSource => ({
  describedObject: target ?? {},
  metric: identifierToV2(metricName, selector),
  target: present<v2.MetricTarget>({
    type: averageValue === undefined ? 'Value' : 'AverageValue',
    value: targetValue ?? zero,
    averageValue,
  }),
})

const externalToV2 = ({
  metricName,
  metricSelector,
  targetValue,
  targetAverageValue,
}: v1.ExternalMetricSource): v2.ExternalMetricSource => ({
  metric: identifierToV2(metricName, metricSelector),
  target: present<v2.MetricTarget>({
    type: targetValue === undefined ? 'AverageValue' : 'Value',
    value: targetValue,
    averageValue: targetAverageValue,
  }),
})

export function statusToV1({ type, object, pods, resource, containerResource, external }: v2.MetricStatus): v1.MetricStatus {
  return present<v1.MetricStatus>({
    type,
    object:
      object &&
      present<v1.ObjectMetricStatus>({
        target: object.describedObject,
        ...namedToV1(object.metric),
        currentValue: object.current?.value ?? zero,
        averageValue: object.current?.averageValue,
      }),
    pods: pods && present<v1.PodsMetricStatus>({ ...namedToV1(pods.metric), currentAverageValue: pods.current?.averageValue ?? zero }),
    resource: resource && present<v1.ResourceMetricStatus>({ name: resource.name, ...currentToV1(resource.current) }),
    containerResource:
      containerResource &&
      present<v1.ContainerResourceMetricStatus>({
        name: containerResource.name,
        container: containerResource.container,
        ...currentToV1(containerResource.current),
      }),
    external:
      external &&
      present<v1.ExternalMetricStatus>({
        metricName: external.metric?.name,
        metricSelector: external.metric?.selector,
        currentValue: external.current?.value ?? zero,
        currentAverageValue: external.current?.averageValue,
      }),
  })
}

const currentToV1 = (current: v2.MetricValueStatus | undefined) => ({
  currentAverageUtilization: current?.averageUtilization,
  currentAverageValue: current?.averageValue ?? zero,
})

export function statusToV2({ type, object, pods, resource, containerResource, external }: v1.MetricStatus): v2.MetricStatus {
  return present<v2.MetricStatus>({
    type,
    object: object && {
      describedObject: object.target ?? {},
      metric: identifierToV2(object.metricName, object.selector),
      current: present<v2.MetricValueStatus>({
        value: object.currentValue ?? zero,
        averageValue: object.averageValue,
        averageUtilization: undefined,
      }),
    },
    pods: pods && {
      metric: identifierToV2(pods.metricName, pods.selector),
      current: { averageValue: pods.currentAverageValue ?? zero },
    },
    resource: resource && present<v2.ResourceMetricStatus>({ name: resource.name, current: currentToV2(resource) }),
    containerResource:
      containerResource &&
      present<v2.ContainerResourceMetricStatus>({
        name: containerResource.name,
        container: containerResource.container,
        current: currentToV2(containerResource),
      }),
    external: external && {
      metric: identifierToV2(external.metricName, external.metricSelector),
      current: present<v2.MetricValueStatus>({
        value: external.currentValue ?? zero,
        averageValue: external.currentAverageValue,
        averageUtilization: undefined,
      }),
    },
  })
}

const currentToV2 = (status: v1.ResourceMetricStatus): v2.MetricValueStatus =>
  present<v2.MetricValueStatus>({
    value: undefined,
    averageValue: status.currentAverageValue ?? zero,
    averageUtilization: status.currentAverageUtilization,
  })
