// Collection of pods: logs, exec, attach, port-forward, eviction and binding.

import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { Collection } from '../collection.js'
import {
  type DeleteOptions,
  deleteNames,
  preconditionNames,
  type Query,
  type RequestOptions,
  requestNames,
  requestOptions,
  type WriteOptions,
} from '../requests/request-options.js'
import type { Binding, Pod } from '../typed/types.js'
import { type ExecOptions, type ExecResult, execNames, RemoteCommand, runToEnd } from './exec.js'
import { PortForward } from './port-forward.js'
import { channelProtocols, commandProtocols } from './stream-channels.js'

export interface LogOptions extends RequestOptions {
  readonly container?: string
  readonly follow?: boolean
  readonly previous?: boolean
  readonly sinceSeconds?: number
  readonly sinceTime?: string
  readonly tailLines?: number
  readonly limitBytes?: number
  readonly timestamps?: boolean
  /** The server does not verify the certificate of the kubelet (insecureSkipTLSVerifyBackend). */
  readonly insecure?: boolean
}

const logNames: OptionNames<LogOptions> = {
  container: true,
  follow: true,
  previous: true,
  sinceSeconds: true,
  sinceTime: true,
  tailLines: true,
  limitBytes: true,
  timestamps: true,
  insecure: true,
  ...requestNames,
}

export class PodCollection extends Collection<Pod> {
  get status(): Collection<Pod> {
    return this.subresource('status')
  }

  get ephemeralContainers(): Collection<Pod> {
    return this.subresource('ephemeralcontainers')
  }

  /** Returns the log as one string. */
  async log(name: string, options: Omit<LogOptions, 'follow'> = {}): Promise<string> {
    return this.settings.session.requester.text(await this.logRequest(name, options))
  }

  /** Yields the log in chunks; with `follow` until the container ends. */
  async *logs(name: string, options: LogOptions = {}): AsyncGenerator<string, void, undefined> {
    const response = await this.settings.session.requester.send(await this.logRequest(name, options))
    const decoder = new TextDecoder()
    for await (const chunk of response.chunks()) yield decoder.decode(chunk, { stream: true })
  }

  async exec(name: string, command: readonly string[], options: ExecOptions = {}): Promise<RemoteCommand> {
    return this.openCommand(name, 'exec', { command }, options)
  }

  /** Runs a command and returns its output and exit code. */
  async run(name: string, command: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    return runToEnd((callbacks) => this.exec(name, command, { ...options, ...callbacks }))
  }

  /** Attaches to the main process of a container. */
  async attach(name: string, options: ExecOptions = {}): Promise<RemoteCommand> {
    return this.openCommand(name, 'attach', {}, options)
  }

  /** Opens one WebSocket with a connection to each port of `ports`. */
  async portForward(name: string, ports: readonly number[], options: RequestOptions = {}): Promise<PortForward> {
    refuseUnknownOptions('portForward', options, requestNames)
    const path = await this.path({ name, subresource: 'portforward' }, options)
    const query = { ports: ports.map(String) }
    const socket = await this.settings.session.requester.openSocket({ ...options, path, query, protocols: channelProtocols })
    return new PortForward(socket, ports)
  }

  /** Creates an Eviction. 429 if a PodDisruptionBudget forbids the eviction. */
  async evict(name: string, options: DeleteOptions = {}): Promise<void> {
    refuseUnknownOptions('evict', options, deleteNames)
    refuseUnknownOptions('evict: preconditions', options.preconditions ?? {}, preconditionNames)
    const { signal: _, timeoutMs: _1, dryRun, ...deleteOptions } = options
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: this.namespace }, deleteOptions }
    await this.subresource('eviction').createFor(name, body, { ...requestOptions(options), ...(dryRun === undefined ? {} : { dryRun }) })
  }

  /** Creates a Binding of the pod to a node. */
  async bind(name: string, target: NonNullable<Binding['target']>, options: WriteOptions = {}): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace: this.namespace }, target: { kind: 'Node', ...target } }
    await this.subresource('binding').createFor(name, body, options)
  }

  private async logRequest(name: string, options: LogOptions) {
    refuseUnknownOptions('logs', options, logNames)
    const { signal: _, timeoutMs: _1, insecure, ...query } = options
    return {
      path: await this.path({ name, subresource: 'log' }),
      accept: '*/*',
      query: { ...query, insecureSkipTLSVerifyBackend: insecure } as Query,
      ...requestOptions(options),
    }
  }

  private async openCommand(name: string, subresource: string, commandQuery: Query, options: ExecOptions): Promise<RemoteCommand> {
    refuseUnknownOptions(subresource, options, execNames)
    const { container, stdin = false, tty = false } = options
    const path = await this.path({ name, subresource }, options)
    // A TTY has no separate stderr.
    const query = { ...commandQuery, container, stdin, stdout: true, stderr: !tty, tty }
    const request = { ...requestOptions(options), path, query, protocols: commandProtocols }
    const socket = await this.settings.session.requester.openSocket(request)
    return new RemoteCommand(socket, options)
  }
}
