// Writes short declarations of schema files: the compiler expands schema types repeatedly, which takes compilers of users seconds.
// Here each type is written once, under its name. `packages/client/test/types.slow.test.ts` compares them with the expanded types.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

const sources = 'packages/api/src'
const built = 'packages/api/dist'
const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.schema.ts'))

const modules = await Promise.all(
  files.map(async (file) => {
    const values = await import(pathToFileURL(join(built, file.replace(/\.ts$/, '.js'))).href)
    const names = Object.entries(values).map(([value, { name }]) => ({ type: name, value }))
    return { file, names, values }
  }),
)

/** File and name of the type of each schema node. */
const typeLocations = new Map(modules.flatMap(({ file, names, values }) => names.map(({ type, value }) => [values[value], { file, type }])))

function declare({ file, names, values }) {
  const imports = new Map()
  const nameOf = (location) => {
    if (location.file === file) return location.type
    const alias = location.file.replace(/\.schema\.ts$/, '').replaceAll(/[^a-z0-9]+/gi, '_')
    imports.set(alias, location.file)
    return `${alias}.${location.type}`
  }
  const typeOf = (node) => {
    const location = typeLocations.get(node)
    return location === undefined ? inlineType(node) : nameOf(location)
  }
  const key = (name) => (/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name))
  /** TypeScript type of a schema node without a name, equal to the type that the compiler infers. */
  const inlineType = (node) => {
    switch (node.type) {
      case 'struct': {
        const fields = Object.entries(node.fields).map(([name, field]) => `  readonly ${key(name)}?: ${typeOf(field.node)}`)
        if (node.typeMeta === true) fields.push('  readonly kind?: string', '  readonly apiVersion?: string')
        if (node.rest !== undefined) fields.push('  readonly [name: string]: unknown')
        return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n}`
      }
      case 'list':
        return `readonly ${parenthesized(typeOf(node.item))}[]`
      case 'map':
        return `{ readonly [key: string]: ${typeOf(node.value)} }`
      case 'boolean':
        return 'boolean'
      case 'integer':
      case 'number':
        return 'number'
      case 'intOrString':
        return 'number | string'
      case 'any':
      case 'lazy':
        return 'unknown'
      default:
        return 'string'
    }
  }
  const parenthesized = (text) => (/^[\w.]+$/.test(text) ? text : `(${text})`)
  const types = names.map(
    ({ type, value }) => `export declare const ${value}: StructNode\nexport type ${type} = ${inlineType(values[value])}\n`,
  )
  const path = (other) => {
    const relativePath = relative(dirname(file), other).replace(/\.ts$/, '.js')
    return relativePath.startsWith('.') ? relativePath : `./${relativePath}`
  }
  const lines = [...imports].map(([alias, other]) => `import type * as ${alias} from '${path(other)}'\n`)
  return `import type { StructNode } from '${path('schema/node.ts')}'\n${lines.join('')}${types.join('')}`
}

/** Unchanged files are not written, so that dependent packages are not compiled again. */
function writeChanged(path, text) {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
}

for (const module of modules) writeChanged(join(built, module.file.replace(/\.ts$/, '.d.ts')), declare(module))

/** Types of the client for require(), which can import only types from ES modules: each class is declared as a value and as a type. */
async function declareClient() {
  const values = await import('../packages/client/dist/index.js')
  const texts = readdirSync('packages/client/dist', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => readFileSync(`packages/client/dist/${name}`, 'utf8'))
  const typeOf = (name) => {
    const [, parameters] =
      texts.map((text) => new RegExp(`^export declare class ${name}(<[^{]*>)?[ {]`, 'm').exec(text)).find(Boolean) ?? []
    const names = [...(parameters ?? '').matchAll(/[<,] *(\w+)/g)].map(([, parameter]) => parameter).join(', ')
    const typeParameters = parameters?.replaceAll(/(?<=extends |= )\w+/g, 'client.$&') ?? ''
    return `export type ${name}${typeParameters} = client.${name}${names === '' ? '' : `<${names}>`}\n`
  }
  const isClass = (value) => typeof value === 'function' && Function.prototype.toString.call(value).startsWith('class')
  const declared = Object.entries(values).map(
    ([name, value]) => `export declare const ${name}: typeof client.${name}\n${isClass(value) ? typeOf(name) : ''}`,
  )
  const from = "from './index.js' with { 'resolution-mode': 'import' }"
  return `import type * as client ${from}\nexport type * ${from}\n${declared.join('')}`
}

writeChanged('packages/client/dist/index.d.cts', await declareClient())
