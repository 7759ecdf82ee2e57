// Replays recorded exchanges of kube-apiserver with the tool of the recordings, and returns which match.
//
// Servers are started here and not by the tool: servers choose their ports, and the keys of the profiles are created once.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repoRoot } from '../kit/paths.js'
import { ServerProcess } from '../kit/server-process.js'
import { obtainKeys, prepareProfile } from './profile.js'

export const identities = ['cluster', 'kubernetes'] as const
export type IdentityName = (typeof identities)[number]

/** Folder of the recordings: next to the repository, or CONFORMANCE_ROOT; undefined if there is none. */
export function findRecordings(): string | undefined {
  const root = process.env['CONFORMANCE_ROOT'] ?? join(repoRoot, '..', 'shared', 'conformance')
  return existsSync(join(root, 'run.mjs')) ? root : undefined
}

export interface ReplayRequest {
  readonly root: string
  readonly identity: IdentityName
  /** Default: all. */
  readonly profiles?: readonly string[]
  /** Regular expression for file names; default: all. */
  readonly filter?: string
  /** Additional flags of every server. */
  readonly moreFlags?: () => readonly string[]
}

export interface Replay {
  /** `profile/file/id`. */
  readonly matched: ReadonlySet<string>
  readonly compared: ReadonlySet<string>
  /** Differences by `profile/file/id`. */
  readonly differences: ReadonlyMap<string, unknown>
}

interface ScenarioReport {
  readonly scenario: string
  readonly mismatches: readonly { readonly id: string; readonly diffs: unknown }[]
}

export async function replay(request: ReplayRequest): Promise<Replay> {
  const { root, profiles = readdirSync(join(root, 'golden')) } = request
  const matched = new Set<string>()
  const compared = new Set<string>()
  const differences = new Map<string, unknown>()
  for (const profile of profiles) {
    for (const { scenario, mismatches } of await replayProfile(request, profile)) {
      const file = `${profile}/${scenario.replace(/\.mjs$/, '')}`
      const bad = new Map(mismatches.map(({ id, diffs }) => [id, diffs]))
      for (const id of recordedIds(root, file)) {
        compared.add(`${file}/${id}`)
        if (bad.has(id)) differences.set(`${file}/${id}`, bad.get(id))
        else matched.add(`${file}/${id}`)
      }
    }
  }
  return { matched, compared, differences }
}

const recordedIds = (root: string, file: string): readonly string[] =>
  (JSON.parse(readFileSync(join(root, 'golden', `${file}.json`), 'utf8')) as readonly { readonly id: string }[]).map(({ id }) => id)

async function replayProfile(request: ReplayRequest, profile: string): Promise<readonly ScenarioReport[]> {
  const { root, identity, moreFlags = () => [] } = request
  const keys = obtainKeys(root)
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const flags = prepareProfile({ root, profile, identity, keys, folder: join(folder, 'profile') })
    const server = await ServerProcess.start({
      dataDir: join(folder, 'data'),
      flags: [`--identity=${identity}`, '--bind-address=127.0.0.1', ...flags, ...moreFlags()],
    })
    try {
      const path = join(folder, 'report.json')
      const output = await runTool(request, { profile, keys, url: server.url, report: path })
      if (!existsSync(path)) throw new Error(`there is no report of profile ${profile}:\n${output.slice(-2000)}`)
      return JSON.parse(readFileSync(path, 'utf8')) as readonly ScenarioReport[]
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface ToolRun {
  readonly profile: string
  readonly keys: string
  readonly url: string
  readonly report: string
}

function runTool({ root, identity, filter = '' }: ReplayRequest, { profile, keys, url, report }: ToolRun): Promise<string> {
  const argv = ['--server', url, '--identity', identity, '--profile', profile, '--root', root, '--filter', filter, '--report', report]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'run.mjs'), ...argv], {
      env: { ...process.env, PKI: keys, NODE_TEST_CONTEXT: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const kill = (): boolean => child.kill('SIGKILL')
    process.once('exit', kill)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', reject)
    // The exit code is ignored: the tool exits with 1 on any difference, also on known ones.
    child.on('close', () => {
      process.off('exit', kill)
      resolve(output)
    })
  })
}
