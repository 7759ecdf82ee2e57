// The TypeScript sources of the project with their imports, for tests that read the code itself.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repoRoot } from './paths.js'

export interface SourceFile {
  /** From the root of the repository, such as `src/api/identity.ts`. */
  readonly path: string
  /** First-level folder below `src/`. */
  readonly room: string
  readonly text: string
  readonly isTest: boolean
  readonly imports: readonly string[]
}

const importPattern = /(?:^|[\s;])(?:import|export)\s[^'"`;]*?from\s*'([^']+)'|\bimport\s*\(\s*'([^']+)'\s*\)|^import\s+'([^']+)'/gm

/** What a file imports or re-exports, types and dynamic imports included. */
export const importsOf = (text: string): readonly string[] =>
  [...withoutComments(text).matchAll(importPattern)].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '')

const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')

export function readSourceFiles(folder = 'src'): readonly SourceFile[] {
  return readdirSync(join(repoRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(join(repoRoot, path), 'utf8')
      return { path, room: name.split('/')[0] ?? '', text, isTest: /\.(?:test|contract|fixture)\.ts$/.test(name), imports: importsOf(text) }
    })
}

/** The file that a relative import means, from the root of the repository. */
export const resolveImport = (from: SourceFile, specifier: string): string => join(dirname(from.path), specifier).replace(/\.js$/, '.ts')
