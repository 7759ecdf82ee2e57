// TypeScript sources of the project with their imports, for tests of the code structure.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repoRoot } from './paths.js'

export interface SourceFile {
  /** From the root of the repository, such as `packages/api/src/api/identity.ts`. */
  readonly path: string
  /** Folder in `packages/`; undefined for tests and tools of the root. */
  readonly package: string | undefined
  /** Unit of the import rules: the first-level folder below `src/`, or the whole package `client`, `cli` or `console`. */
  readonly room: string
  readonly text: string
  readonly isTest: boolean
  readonly imports: readonly string[]
}

export const packageNames: Readonly<Record<string, string>> = {
  api: '@cluster-apiserver/api',
  client: '@cluster-apiserver/client',
  server: '@cluster-apiserver/server',
  cli: 'clusterctl',
  console: '@cluster-apiserver/console',
}

/** Packages that are one room, without rules between their folders. */
const singleRooms = ['client', 'cli', 'console']

const importPattern = /(?:^|[\s;])(?:import|export)\s[^'"`;]*?from\s*'([^']+)'|\bimport\s*\(\s*'([^']+)'\s*\)|^import\s+'([^']+)'/gm

/** Imports and re-exports of a file, types and dynamic imports included. */
export const importsOf = (text: string): readonly string[] =>
  [...withoutComments(text).matchAll(importPattern)].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '')

const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')

/** Sources of all packages. */
export const readSourceFiles = (): readonly SourceFile[] => Object.keys(packageNames).flatMap((name) => readFolder(`packages/${name}/src`))

export function readFolder(folder: string): readonly SourceFile[] {
  return readdirSync(join(repoRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(join(repoRoot, path), 'utf8')
      const isTest = /\.(?:test|contract|fixture)\.ts$/.test(name)
      return { path, package: packageOf(path), room: roomOf(path), text, isTest, imports: importsOf(text) }
    })
}

const packageOf = (path: string): string | undefined => /^packages\/([^/]+)\//.exec(path)?.[1]

export function roomOf(path: string): string {
  const [, name = '', room = ''] = /^packages\/([^/]+)\/src\/([^/]+)/.exec(path) ?? []
  return singleRooms.includes(name) ? name : room
}

/** Path of the imported file, from the root of the repository; undefined for Node.js and third-party modules. */
export function resolveImport(from: SourceFile, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return sourceOf(join(dirname(from.path), specifier))
  const owner = Object.entries(packageNames).find(([, name]) => specifier.startsWith(`${name}/`))
  return owner && sourceOf(`packages/${owner[0]}/src${specifier.slice(owner[1].length)}`)
}

function sourceOf(module: string): string {
  const withJsx = module.replace(/\.js$/, '.tsx')
  return existsSync(join(repoRoot, withJsx)) ? withJsx : module.replace(/\.js$/, '.ts')
}
