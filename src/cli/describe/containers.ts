// Containers of pods and of templates, with their volumes.

import type { Pod } from '../../client/typed/types.js'
import { quantities, textOr, timeText, yesNo } from './common.js'
import { block, type Entry, listOrNone } from './entry.js'

type PodSpec = NonNullable<Pod['spec']>
type Container = NonNullable<PodSpec['containers']>[number]
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]
type State = ContainerStatus['state']
type Probe = NonNullable<Container['livenessProbe']>
type Volume = NonNullable<PodSpec['volumes']>[number]

export const containerEntries = (
  title: string,
  containers: readonly Container[] | undefined,
  statuses?: readonly ContainerStatus[],
): readonly Entry[] =>
  containers === undefined || containers.length === 0
    ? []
    : [
        [
          title,
          block(
            containers.map((one) => [
              one.name ?? '',
              block(
                oneContainer(
                  one,
                  statuses?.find(({ name }) => name === one.name),
                ),
              ),
            ]),
          ),
        ],
      ]

function oneContainer(container: Container, status: ContainerStatus | undefined): readonly Entry[] {
  const { ports = [], env = [], envFrom = [], volumeMounts = [], resources = {} } = container
  const environment = [
    ...envFrom.map(({ configMapRef, secretRef, prefix }) => {
      const from = configMapRef === undefined ? `Secret ${secretRef?.name ?? ''}` : `ConfigMap ${configMapRef.name ?? ''}`
      return `from ${from}${prefix === undefined || prefix === '' ? '' : ` with prefix ${prefix}`}`
    }),
    ...env.map(({ name, value, valueFrom }) => `${name}: ${valueFrom === undefined ? (value ?? '') : sourceText(valueFrom)}`),
  ]
  return [
    ['Container ID', status?.containerID],
    ['Image', textOr(container.image)],
    ['Image ID', status?.imageID],
    [
      ports.length > 1 ? 'Ports' : 'Port',
      textOr(ports.map(({ containerPort, protocol = 'TCP' }) => `${containerPort}/${protocol}`).join(', ')),
    ],
    ['Command', container.command],
    ['Args', container.args],
    ...(status === undefined ? [] : stateEntries(status)),
    ['Limits', quantities(resources.limits)],
    ['Requests', quantities(resources.requests)],
    ['Liveness', probeText(container.livenessProbe)],
    ['Readiness', probeText(container.readinessProbe)],
    ['Startup', probeText(container.startupProbe)],
    ['Environment', listOrNone(environment)],
    [
      'Mounts',
      listOrNone(volumeMounts.map(({ name, mountPath, readOnly }) => `${mountPath} from ${name} (${readOnly === true ? 'ro' : 'rw'})`)),
    ],
  ]
}

function stateEntries({ state, lastState, ready, restartCount }: ContainerStatus): readonly Entry[] {
  const last = stateText(lastState)
  return [
    ['State', stateText(state) ?? 'Waiting'],
    ['Last State', last],
    ['Ready', ready === true ? 'True' : 'False'],
    ['Restart Count', String(restartCount ?? 0)],
  ]
}

function stateText(state: State): readonly string[] | undefined {
  if (state?.running !== undefined) return ['Running', `Started: ${timeText(state.running.startedAt)}`]
  if (state?.waiting !== undefined) return lines('Waiting', state.waiting)
  if (state?.terminated === undefined) return undefined
  const { exitCode, startedAt, finishedAt } = state.terminated
  return [
    ...lines('Terminated', state.terminated),
    `Exit Code: ${exitCode ?? 0}`,
    `Started: ${timeText(startedAt)}`,
    `Finished: ${timeText(finishedAt)}`,
  ]
}

const lines = (what: string, { reason, message }: { readonly reason?: string; readonly message?: string }): readonly string[] => [
  what,
  ...(reason === undefined ? [] : [`Reason: ${reason}`]),
  ...(message === undefined ? [] : [`Message: ${message}`]),
]

type Source = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>

function sourceText({ fieldRef, secretKeyRef, configMapKeyRef, resourceFieldRef }: Source): string {
  if (fieldRef !== undefined) return `(${fieldRef.apiVersion ?? 'v1'}:${fieldRef.fieldPath ?? ''})`
  const [kind, key] = secretKeyRef === undefined ? ['config map', configMapKeyRef] : ['secret', secretKeyRef]
  if (key !== undefined) return `<set to the key '${key.key ?? ''}' in ${kind} '${key.name ?? ''}'>  Optional: ${yesNo(key.optional)}`
  return resourceFieldRef === undefined ? '' : `(${resourceFieldRef.resource ?? ''})`
}

function probeText(probe: Probe | undefined): string | undefined {
  if (probe === undefined) return undefined
  const { initialDelaySeconds = 0, timeoutSeconds = 1, periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe
  const { exec, httpGet, tcpSocket, grpc } = probe
  const what =
    exec !== undefined
      ? `exec [${(exec.command ?? []).join(' ')}]`
      : httpGet !== undefined
        ? `http-get ${(httpGet.scheme ?? 'HTTP').toLowerCase()}://${httpGet.host ?? ''}:${String(httpGet.port)}${httpGet.path ?? ''}`
        : tcpSocket !== undefined
          ? `tcp-socket ${tcpSocket.host ?? ''}:${String(tcpSocket.port)}`
          : `grpc <pod>:${grpc?.port ?? 0} ${grpc?.service ?? ''}`
  const times = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s`
  return `${what} ${times} #success=${successThreshold} #failure=${failureThreshold}`
}

/** Each with the one source that it has. */
export const volumeEntries = (volumes: readonly Volume[] | undefined): readonly Entry[] =>
  volumes === undefined || volumes.length === 0 ? [] : [['Volumes', block(volumes.map(oneVolume))]]

function oneVolume({ name, ...sources }: Volume): Entry {
  const [[type, source] = ['', {}]] = Object.entries(sources).filter(([, value]) => value !== undefined)
  const fields = Object.entries(source as object).filter(([, value]) => value !== undefined && value !== null)
  const entries = fields.map(([key, value]): Entry => [key, typeof value === 'object' ? JSON.stringify(value) : String(value)])
  return [name ?? '', block([['Type', type], ...entries])]
}
