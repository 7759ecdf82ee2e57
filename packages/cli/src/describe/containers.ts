// Description of containers in pods and pod templates.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Pod } from '@cluster-apiserver/client/typed/types.js'
import { parseQuantity } from '../output/quantities.js'
import { quantities, textOr, timeText } from './common-fields.js'
import { below, type Entry, heading, none } from './description.js'

type PodSpec = NonNullable<Pod['spec']>
type Container = NonNullable<PodSpec['containers']>[number]
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]
type State = ContainerStatus['state']
type Probe = NonNullable<Container['livenessProbe']>

interface ContainerContext {
  readonly statuses?: readonly ContainerStatus[] | undefined
  readonly pod?: Pod
}

export function containerEntries(
  title: string,
  containers: readonly Container[] | undefined,
  { statuses, pod }: ContainerContext = {},
): readonly Entry[] {
  if (containers === undefined || containers.length === 0) return []
  const [nameIndent, fieldIndent] = pod === undefined ? [1, 1] : [2, 2]
  const containerEntry = (container: Container): Entry => {
    const status = statuses?.find(({ name }) => name === container.name)
    return [container.name ?? '', heading(containerFields(container, status, pod), fieldIndent)]
  }
  return [[title, heading(containers.map(containerEntry), nameIndent)]]
}

function containerFields(container: Container, status: ContainerStatus | undefined, pod: Pod | undefined): readonly Entry[] {
  const { ports = [], resources = {}, command = [], args = [] } = container
  const portsText = (numberOf: (port: (typeof ports)[number]) => number): string =>
    ports.map((port) => `${numberOf(port)}/${port.protocol ?? 'TCP'}`).join(', ')
  const plural = ports.length > 1 ? 's' : ''
  return [
    ['Container ID', status === undefined ? undefined : (status.containerID ?? '')],
    ['Image', container.image ?? ''],
    ['Image ID', status === undefined ? undefined : (status.imageID ?? '')],
    [`Port${plural}`, textOr(portsText(({ containerPort }) => containerPort ?? 0))],
    [`Host Port${plural}`, textOr(portsText(({ hostPort }) => hostPort ?? 0))],
    ['Command', command.length === 0 ? undefined : below(command)],
    ['Args', args.length === 0 ? undefined : below(args)],
    ...(status === undefined ? [] : stateEntries(status)),
    ['Limits', quantities(resources.limits)],
    ['Requests', quantities(resources.requests)],
    ['Liveness', probeText(container.livenessProbe)],
    ['Readiness', probeText(container.readinessProbe)],
    ['Startup', probeText(container.startupProbe)],
    ...environmentEntries(container, pod),
    mountsEntry(container),
    ...devicesEntries(container),
  ]
}

function stateEntries({ state, lastState, ready, restartCount }: ContainerStatus): readonly Entry[] {
  return [
    ...stateFields('State', state),
    ...(lastState?.terminated === undefined ? [] : stateFields('Last State', lastState)),
    ['Ready', ready === true ? 'True' : 'False'],
    ['Restart Count', String(restartCount ?? 0)],
  ]
}

function stateFields(title: string, state: State): readonly Entry[] {
  const { running, waiting, terminated } = state ?? {}
  const indented = (entries: readonly Entry[]): readonly Entry[] => entries.map(([name, value]): Entry => [`  ${name}`, value])
  if (running !== undefined) return [[title, 'Running'], ...indented([['Started', timeText(running.startedAt)]])]
  if (terminated === undefined) return [[title, 'Waiting'], ...indented([['Reason', waiting?.reason || undefined]])]
  const { reason, message, exitCode, signal, startedAt, finishedAt } = terminated
  return [
    [title, 'Terminated'],
    ...indented([
      ['Reason', reason || undefined],
      ['Message', message || undefined],
      ['Exit Code', String(exitCode ?? 0)],
      ['Signal', signal === undefined || signal === 0 ? undefined : String(signal)],
      ['Started', timeText(startedAt)],
      ['Finished', timeText(finishedAt)],
    ]),
  ]
}

function environmentEntries({ env = [], envFrom = [], resources }: Container, pod: Pod | undefined): readonly Entry[] {
  const sources = envFrom.map(({ configMapRef, secretRef, prefix }) => {
    const [kind, from] = configMapRef === undefined ? ['Secret', secretRef] : ['ConfigMap', configMapRef]
    const sourceText = prefix === undefined || prefix === '' ? kind : `${kind} with prefix '${prefix}'`
    return [from?.name ?? '', sourceText, `Optional: ${from?.optional ?? false}`]
  })
  const rows = env.flatMap(({ name, value = '', valueFrom }): readonly (readonly string[])[] => {
    if (valueFrom !== undefined) return [[`${name}:`, ...sourceCells(valueFrom, pod, resources)]]
    return value.split('\n').map((line, i) => [i === 0 ? `${name}:` : '', line])
  })
  return [
    ['Environment Variables from', sources.length === 0 ? undefined : { lines: sources }],
    ['Environment', rows.length === 0 ? none : { lines: rows }],
  ]
}

type Source = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>

function sourceCells(source: Source, pod: Pod | undefined, resources: Container['resources']): readonly string[] {
  const { fieldRef, secretKeyRef, configMapKeyRef, resourceFieldRef } = source
  if (fieldRef !== undefined)
    return [`${fieldOf(pod, fieldRef.fieldPath ?? '')} (${fieldRef.apiVersion ?? 'v1'}:${fieldRef.fieldPath ?? ''})`]
  if (secretKeyRef !== undefined)
    return [
      `<set to the key '${secretKeyRef.key ?? ''}' in secret '${secretKeyRef.name ?? ''}'>`,
      `Optional: ${secretKeyRef.optional ?? false}`,
    ]
  if (configMapKeyRef !== undefined)
    return [
      `<set to the key '${configMapKeyRef.key ?? ''}' of config map '${configMapKeyRef.name ?? ''}'>`,
      `Optional: ${configMapKeyRef.optional ?? false}`,
    ]
  const [section = '', name = ''] = (resourceFieldRef?.resource ?? '').split('.')
  const amount = section === 'limits' ? resources?.limits?.[name] : section === 'requests' ? resources?.requests?.[name] : undefined
  const divisor = parseQuantity(resourceFieldRef?.divisor) || 1
  const amountText = amount === undefined ? 'node allocatable' : String(Math.ceil(parseQuantity(amount) / divisor))
  return [`${amountText} (${resourceFieldRef?.resource ?? ''})`]
}

function fieldOf(pod: Pod | undefined, path: string): string {
  const { metadata, spec, status } = pod ?? {}
  const values: { readonly [path: string]: string | undefined } = {
    'metadata.name': metadata?.name,
    'metadata.namespace': metadata?.namespace,
    'metadata.uid': metadata?.uid,
    'spec.nodeName': spec?.nodeName,
    'spec.serviceAccountName': spec?.serviceAccountName,
    'status.hostIP': status?.hostIP,
    'status.podIP': status?.podIP,
  }
  return Object.hasOwn(values, path) ? (values[path] ?? '') : ''
}

function mountsEntry({ volumeMounts = [] }: Container): Entry {
  if (volumeMounts.length === 0) return ['Mounts', none]
  const sorted = volumeMounts.toSorted((a, b) => compareText(a.mountPath ?? '', b.mountPath ?? ''))
  return [
    'Mounts',
    below(
      sorted.map(({ name, mountPath, readOnly, subPath = '' }) => {
        const flags = [readOnly === true ? 'ro' : 'rw', ...(subPath === '' ? [] : [`path="${subPath}"`])]
        return `${mountPath} from ${name} (${flags.join(',')})`
      }),
    ),
  ]
}

const devicesEntries = ({ volumeDevices = [] }: Container): readonly Entry[] =>
  volumeDevices.length === 0 ? [] : [['Devices', below(volumeDevices.map(({ name, devicePath }) => `${devicePath} from ${name}`))]]

function probeText(probe: Probe | undefined): string | undefined {
  if (probe === undefined) return undefined
  const { initialDelaySeconds = 0, timeoutSeconds = 1, periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe
  const { exec, httpGet, tcpSocket, grpc } = probe
  const action =
    exec !== undefined
      ? `exec [${(exec.command ?? []).join(' ')}]`
      : httpGet !== undefined
        ? `http-get ${(httpGet.scheme ?? 'HTTP').toLowerCase()}://${httpGet.host ?? ''}:${String(httpGet.port)}${httpGet.path ?? ''}`
        : tcpSocket !== undefined
          ? `tcp-socket ${tcpSocket.host ?? ''}:${String(tcpSocket.port)}`
          : `grpc <pod>:${grpc?.port ?? 0} ${grpc?.service ?? ''}`
  const times = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s`
  return `${action} ${times} #success=${successThreshold} #failure=${failureThreshold}`
}
