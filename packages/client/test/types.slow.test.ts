// The types of the client: a program that uses every kind compiles at the strictest, and soon; what is published is what is inferred.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { kinds } from '../../src/client/typed/kinds.js'
import { repoRoot } from '../kit/paths.js'
import { readSourceFiles } from '../kit/source-files.js'

const folder = mkdtempSync(join(tmpdir(), 'client-types-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const options = {
  target: 'ES2022',
  module: 'NodeNext',
  moduleResolution: 'NodeNext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: false,
  types: ['node'],
  typeRoots: [join(repoRoot, 'node_modules/@types')],
}

interface Compiled {
  readonly output: string
  readonly seconds: number
}

/** A project of one file, in which the package is installed. */
function compile(name: string, text: string, more: object = {}): () => Promise<Compiled> {
  const project = join(folder, name)
  const run = (command: string, args: readonly string[]): Promise<string> =>
    new Promise((resolve) =>
      execFile(command, args, { cwd: repoRoot, maxBuffer: 1 << 26 }, (_, stdout, stderr) => resolve(stdout + stderr)),
    )
  mkdirSync(join(project, 'node_modules'), { recursive: true })
  symlinkSync(repoRoot, join(project, 'node_modules/cluster-apiserver'))
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, ...more }, files: ['main.ts'] }))
  writeFileSync(join(project, 'main.ts'), text)
  return async () => {
    const output = await run(process.execPath, [join(repoRoot, 'node_modules/typescript/bin/tsc'), '-p', project, '--extendedDiagnostics'])
    const seconds = Number(/Total time:\s+([\d.]+)s/.exec(output)?.[1] ?? Number.NaN)
    return { output, seconds }
  }
}

const errorsIn = ({ output }: Compiled): readonly string[] => output.split('\n').filter((line) => line.includes('error TS'))

type Table = Record<
  string,
  { readonly versions: Record<string, Record<string, { readonly namespaced: boolean; readonly type: { readonly name: string } }>> }
>

const words = Object.entries(kinds as unknown as Table).flatMap(([group, { versions }]) =>
  Object.entries(versions).flatMap(([version, entries]) =>
    Object.entries(entries).map(([name, { namespaced, type }]) => ({
      access: `client.${group}.${version}.${name}(${namespaced ? "'shop'" : ''})`,
      isReview: type.name === 'ReviewCollection',
    })),
  ),
)

describe('the types of the client', () => {
  test('of all kinds are checked in less than two seconds, without skipLibCheck', async (t) => {
    const uses = words.map(({ access, isReview }, i) =>
      isReview
        ? `const made${i} = await ${access}.create({})\nnames.push(made${i}.kind, made${i}.metadata?.name)`
        : `const read${i} = await ${access}.get('a')\nnames.push(read${i}.kind, read${i}.metadata?.labels?.['a'])\nawait ${access}.update(read${i})`,
    )
    const program = `import { connect } from 'cluster-apiserver/client'
const client = connect()
const names: (string | undefined)[] = []
${uses.join('\n')}
// @ts-expect-error there is no such field
read1.nothing
// @ts-expect-error config maps have no status
client.core.v1.configMaps('shop').status
// @ts-expect-error a number is no text
await client.core.v1.configMaps('shop').create({ metadata: { name: 1 } })
// @ts-expect-error no such field, in the middle of it
await client.apps.v1.deployments('shop').create({ spec: { template: { spec: { containers: [{ nome: 'a' }] } } } })
// @ts-expect-error nodes are in no namespace
client.core.v1.nodes('shop')
const prices = await client.core.v1.configMaps('shop').get('prices')
const data: { readonly [key: string]: string } | undefined = prices.data
for await (const event of client.core.v1.pods().watch()) if (event.type === 'ADDED') names.push(event.object.spec?.containers?.[0]?.image)
console.log(names, data)
`
    const [check, checkNothing] = [compile('all', program), compile('nothing', 'export {}\n')]
    let [own, nothing] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    let types = ''
    // Others work on the same machine: the best of some is what the compiler needs. Most of that goes to the libraries of the language and of
    // Node, which are checked here as well, and whose part is what a program that does nothing takes.
    const isQuick = (): boolean => own < 2 || own - nothing < Math.max(1, nothing)
    for (let round = 0; round < 4 && !isQuick(); round++) {
      const compiled = await check()
      assert.deepEqual(errorsIn(compiled), [])
      own = Math.min(own, compiled.seconds)
      nothing = Math.min(nothing, (await checkNothing()).seconds)
      types = /Types:\s+(\d+)/.exec(compiled.output)?.[1] ?? ''
    }
    t.diagnostic(`${words.length} kinds in ${own} s, ${types} types; a program that does nothing takes ${nothing} s`)
    assert.ok(isQuick(), `${own} s, of which ${nothing} s for nothing`)
  })

  test('are published as they are inferred from the schemas', async () => {
    const files = readSourceFiles().filter(({ path }) => path.endsWith('.schema.ts'))
    const lines = files.flatMap(({ path, text }, i) => {
      const names = [...text.matchAll(/^export type (\w+) = Infer</gm)].map(([, name = '']) => name)
      return [
        `import type * as source${i} from '${repoRoot}${path}'`,
        `import type * as published${i} from '${repoRoot}${path.replace(/^src/, 'dist').replace(/\.ts$/, '.js')}'`,
        // A schema of schemas refers to itself, which only what is published can say.
        ...names
          .filter((name) => name !== 'JSONSchemaProps')
          .map((name) => `check<Full<source${i}.${name}>, Full<published${i}.${name}>>()`),
      ]
    })
    const imports = lines.filter((line) => line.startsWith('import'))
    const checks = lines.filter((line) => !line.startsWith('import'))
    assert.ok(checks.length > 500, `${checks.length} types`)
    const program = `${imports.join('\n')}
type Full<T> = T extends readonly (infer Item)[] ? readonly Full<Item>[] : T extends object ? { [K in keyof T]-?: K extends 'openAPIV3Schema' ? unknown : Full<T[K]> } : T
declare function check<A extends B, B extends C, C = A>(): void
${checks.join('\n')}
`
    const errors = errorsIn(
      await compile('same', program, { skipLibCheck: true, allowImportingTsExtensions: true, lib: ['ES2023', 'ES2024.String'] })(),
    )
    assert.deepEqual(errors.slice(0, 5), [])
  })
})
