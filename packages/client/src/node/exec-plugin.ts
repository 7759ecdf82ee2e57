// Credential plugins: runs the command of a kubeconfig's `exec` and caches the credential that it prints.

import { spawn } from 'node:child_process'
import { rejectOnAbort } from '@cluster-apiserver/api/base/async/reject-on-abort.js'
import { type Clock, systemClock } from '@cluster-apiserver/api/base/clock.js'
import { RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import { bearer, type ExecPlugin, execInfo, type PluginCredential, readPluginOutput } from '../config/exec-credential.js'
import type { ClusterEntry } from '../config/kubeconfig.js'
import { CredentialError } from '../errors.js'
import type { Credential, CredentialSource } from '../transport/transport.js'
import { keyPairProblem } from './key-pair-files.js'

interface PluginSettings {
  readonly plugin: ExecPlugin
  readonly cluster: ClusterEntry
  readonly ca: string | undefined
  readonly clock?: Clock
  /** Default: whether stdin is a terminal. */
  readonly isTerminal?: boolean
}

const maxOutputBytes = 4 * 1024 * 1024

/** Credentials by configuration, shared by all clients of the process. */
const sources = new RecentMap<string, PluginSource>(64)

export function pluginSource(settings: PluginSettings): CredentialSource {
  if (settings.clock !== undefined) return new PluginSource(settings)
  const key = JSON.stringify([settings.plugin, settings.cluster, settings.ca, settings.isTerminal])
  const existing = sources.get(key)
  if (existing !== undefined) return existing
  const source = new PluginSource(settings)
  sources.set(key, source)
  return source
}

interface CachedCredential {
  readonly credential: Credential
  readonly expiresAt: number | undefined
}

class PluginSource implements CredentialSource {
  private readonly settings: PluginSettings
  private readonly clock: Clock
  private cached: CachedCredential | undefined
  private running: Promise<Credential> | undefined

  constructor(settings: PluginSettings) {
    this.settings = settings
    this.clock = settings.clock ?? systemClock
  }

  current(signal?: AbortSignal): Credential | Promise<Credential> {
    const { cached } = this
    if (cached !== undefined && (cached.expiresAt === undefined || this.clock.now() < cached.expiresAt)) return cached.credential
    this.running ??= this.renew().finally(() => {
      this.running = undefined
    })
    // Aborting one caller does not stop the plugin: other callers may wait for the same run.
    return rejectOnAbort(this.running, signal)
  }

  invalidate(credential: Credential): boolean {
    if (this.cached?.credential === credential) this.cached = undefined
    return true
  }

  private async renew(): Promise<Credential> {
    const { plugin } = this.settings
    const isInteractive = canPrompt(plugin, this.settings.isTerminal ?? process.stdin.isTTY === true)
    const output = await runPlugin(this.settings, isInteractive)
    const pluginCredential = readPluginOutput(plugin, output, this.clock.now())
    const credential = credentialOf(plugin, pluginCredential)
    this.cached = { credential, expiresAt: pluginCredential.expiresAt }
    return credential
  }
}

function canPrompt({ interactiveMode, command }: ExecPlugin, isTerminal: boolean): boolean {
  if (interactiveMode === 'Always' && !isTerminal) {
    throw new CredentialError(`credential plugin ${command}: interactiveMode is Always, but stdin is not a terminal`)
  }
  return interactiveMode !== 'Never' && isTerminal
}

function credentialOf({ command }: ExecPlugin, { token, certificate }: PluginCredential): Credential {
  const problem = certificate === undefined ? undefined : keyPairProblem(certificate)
  if (problem !== undefined) throw new CredentialError(`credential plugin ${command}: its certificate and key cannot be used: ${problem}`)
  return {
    ...(token === undefined ? {} : { authorization: bearer(token, `credential plugin ${command}`) }),
    ...(certificate === undefined ? {} : { certificate }),
  }
}

function runPlugin({ plugin, cluster, ca }: PluginSettings, isInteractive: boolean): Promise<string> {
  const { command, args } = plugin
  const env = {
    ...process.env,
    ...Object.fromEntries(plugin.env.map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: execInfo(plugin, isInteractive, cluster, ca),
  }
  return new Promise((resolve, reject) => {
    const fail = (problem: string, cause?: unknown): void =>
      reject(new CredentialError(`credential plugin ${command}: ${problem}`, { cause }))
    const child = spawn(command, args, { env, stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', 'inherit'] })
    const chunks: Buffer[] = []
    let size = 0
    child.on('error', (error: Error & { readonly code?: string }) => {
      const hint = plugin.installHint === '' ? '' : `\n\n${plugin.installHint}`
      if (error.code === 'ENOENT') fail(`the command was not found${hint}`, error)
      else fail(`it cannot be started: ${error.message}${hint}`, error)
    })
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxOutputBytes) chunks.push(chunk)
      else {
        fail(`it printed more than ${maxOutputBytes} bytes`)
        // A plugin that ignores SIGTERM gets EPIPE.
        child.stdout?.destroy()
        child.kill()
      }
    })
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'))
      else fail(code === null ? `it was killed by ${signal}` : `it failed with exit code ${code}`)
    })
  })
}
