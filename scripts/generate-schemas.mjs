#!/usr/bin/env node
// Generates *.schema.ts from a type catalogue of Kubernetes 1.26: fields, Protobuf numbers and list types of all API versions.
//   node scripts/generate-schemas.mjs [../shared/catalogue]   (then: npm run format)
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const catalogue = process.argv[2] ?? '../shared/catalogue'
const scalars = {
  string: 'string',
  boolean: 'boolean',
  int32: 'int32',
  int64: 'int64',
  double: 'number',
  bytes: 'bytes',
  time: 'time',
  microTime: 'microTime',
  duration: 'duration',
  quantity: 'quantity',
  intOrString: 'intOrString',
}
const specialNodes = {
  rawExtension: 'raw',
  any: 'json',
  fieldsV1: 'fields',
  Unknown: 'unknown',
  JSON: 'json',
  JSONSchemaPropsOrArray: 'schemaOrArray',
  JSONSchemaPropsOrBool: 'schemaOrBool',
  JSONSchemaPropsOrStringArray: 'schemaOrStrings',
}

const files = new Map()
for (const name of readdirSync(catalogue)) {
  if (!/_v\d\w*\.json$/.test(name)) continue
  const data = JSON.parse(readFileSync(join(catalogue, name), 'utf8'))
  files.set(name.replace(/\.json$/, ''), data)
}

const folder = (group) => (group === '' ? 'core' : group.replace(/\.cluster\.io$/, '').replaceAll('.', '-'))
function pathOf(file) {
  if (file === 'meta_v1') return 'packages/api/src/api/meta.schema.ts'
  const { group, version } = files.get(file)
  return `packages/api/src/resources/${folder(group ?? '')}/${version}.schema.ts`
}
const importPath = (from, to) =>
  relative(dirname(from), to)
    .replace(/^(?!\.)/, './')
    .replace(/\.ts$/, '.js')
/** Named list types are Protobuf messages: verbs of an APIResource, values of `extra`. */
const isWrapped = (f) => /^(?:Verbs|map<string, ExtraValue>)$/.test(f?.protoType ?? '')
const camel = (name) => name.replace(/^([A-Z]+)(?=[A-Z][a-z]|$|\d)/, (m) => m.toLowerCase()).replace(/^[A-Z]/, (m) => m.toLowerCase())
const quoted = (value) => JSON.stringify(value).replace(/"/g, "'")
const literal = (value) =>
  typeof value === 'string' ? quoted(value) : Array.isArray(value) ? `[${value.map(literal).join(', ')}]` : JSON.stringify(value)

/** Package of a type without the identity, which is added at run time. */
const packageOf = (schema) => schema?.replace(/^io\.cluster\./, '').replace(/^kube-/, '')
/** Differences of the list type of a kind from the usual one. */
function inListOf(list) {
  const items = list?.fields.find((f) => f.name === 'items')
  if (!items) return []
  return [
    ...(items.required ? [] : ['optional: true']),
    ...(items.listType ? [`listType: '${items.listType}'`] : []),
    ...(items.listMapKeys ? [`keys: ${literal(items.listMapKeys)}`] : []),
  ]
}
/** Zero value that a required field of the type has; undefined for lists, maps and free JSON. */
const zeroOf = (node) =>
  ({ 's.string': "''", 's.boolean': 'false', 's.int32': '0', 's.int64': '0', 's.number': '0' })[node] ??
  (/^(?:\w+\.)?[a-z]\w*$/.test(node) && !node.startsWith('s.') ? '{}' : undefined)
/** Newest stable version first: older versions of a group import the field tables of newer ones. */
const rankOf = (file) => {
  const [, major, stage = 'ga', minor = 0] = /_v(\d+)(alpha|beta)?(\d+)?$/.exec(file)
  return ['alpha', 'beta', 'ga'].indexOf(stage) * 10_000 + major * 100 + Number(minor)
}
const sourceFiles = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((path) =>
    /(?<!\.schema)\.ts$/.test(path) ? [join(folder, path)] : [],
  )
/** Every identifier of the code: types that no file imports get no type alias. */
const namedTypes = new Set(
  [...readdirSync('packages').map((name) => `packages/${name}/src`), 'test', 'bench']
    .flatMap(sourceFiles)
    .flatMap((path) => readFileSync(path, 'utf8').match(/\b[A-Z]\w+/g) ?? []),
)
/** Field tables of a group that refer to no type of their own file, by their text, for reuse in other versions. */
const sharedTables = new Map()
const unionText = (union) => `{ discriminator: '${union.discriminator}', values: ${quoted(union['fields-to-discriminateBy'])} }`

function transcribe(file) {
  const { types, schemaPrefix } = files.get(file)
  const imports = new Map()
  const emitted = new Set()
  const emitting = new Set()
  const recursive = new Set()
  const declarations = []
  /** True once the current struct refers to a type of this file. */
  let isLocal = false

  function specialNode(format) {
    if (format.startsWith('schema')) isLocal = true
    return format.startsWith('schema') ? `s.any('${format}', s.lazy(() => jsonSchemaProps))` : `s.any('${format}')`
  }

  function namedNode(ref) {
    if (scalars[ref]) return `s.${scalars[ref]}`
    if (specialNodes[ref]) return specialNode(specialNodes[ref])
    const dot = ref.lastIndexOf('.')
    const [homeFile, name] = dot < 0 ? [file, ref] : [ref.slice(0, dot) === 'meta' ? 'meta_v1' : ref.slice(0, dot), ref.slice(dot + 1)]
    const type = files.get(homeFile)?.types[name]
    if (!type) throw new Error(`${file}: no type ${ref}`)
    if (type.jsonForm === '[]string') return 's.list(s.string, { protoWrapped: true })'
    if (specialNodes[name]) return specialNode(specialNodes[name])
    if (type.jsonForm && name !== 'JSON') {
      const scalar = { Time: 'time', MicroTime: 'microTime', Duration: 'duration', Quantity: 'quantity', IntOrString: 'intOrString' }[name]
      if (scalar) return `s.${scalar}`
      if (name === 'RawExtension') return "s.any('raw')"
      if (name === 'FieldsV1') return "s.any('fields')"
      throw new Error(`${file}: ${ref} has the form ${type.jsonForm}`)
    }
    if (homeFile !== file) {
      const alias = homeFile === 'meta_v1' ? 'meta' : folder(files.get(homeFile).group ?? '').replace(/-(\w)/g, (_, c) => c.toUpperCase())
      imports.set(alias, homeFile)
      return `${alias}.${camel(name)}`
    }
    isLocal = true
    if (emitting.has(name)) {
      recursive.add(name)
      return `s.lazy(() => ${camel(name)})`
    }
    emit(name)
    return camel(name)
  }

  function node(ref, f, wrapped = isWrapped(f)) {
    if (ref.startsWith('[]')) {
      const options = []
      if (wrapped) options.push('protoWrapped: true')
      if (f?.listType) options.push(`listType: '${f.listType}'`)
      if (f?.listMapKeys) options.push(`keys: ${literal(f.listMapKeys)}`)
      if (f?.patchStrategy) options.push(`patchStrategy: '${f.patchStrategy}'`)
      if (f?.patchMergeKey) options.push(`patchMergeKey: '${f.patchMergeKey}'`)
      return `s.list(${node(ref.slice(2))}${options.length ? `, { ${options.join(', ')} }` : ''})`
    }
    if (ref.startsWith('map[string]'))
      return `s.map(${node(ref.slice(11), undefined, wrapped)}${f?.mapType ? `, { mapType: '${f.mapType}' }` : ''})`
    return namedNode(ref)
  }

  function fieldText(f) {
    const options = []
    const text = node(f.type, f)
    const isRequired =
      f.proto !== undefined &&
      f.required &&
      f.omitempty === false &&
      (f.default === undefined ? undefined : literal(f.default)) === zeroOf(text)
    if (f.protoName) options.push(`protoName: '${f.protoName}'`)
    if (f.pointer) options.push('pointer: true')
    if (!isRequired && f.omitempty === false) options.push('always: true')
    if (!isRequired && f.required) options.push('required: true')
    if (!isRequired && 'default' in f) options.push(`default: ${literal(f.default)}`)
    if (f.enum && !f.enumOpen) options.push(`enum: ${literal(f.enum)}`)
    if (!f.type.startsWith('[]')) {
      if (f.patchStrategy) options.push(`patchStrategy: '${f.patchStrategy}'`)
      if (f.listType) options.push(`listType: '${f.listType}'`)
      if (f.patchMergeKey) options.push(`patchMergeKey: '${f.patchMergeKey}'`)
    }
    if (f.mapType && !/^(map|\[\])/.test(f.type)) options.push(`mapType: '${f.mapType}'`)
    const tail = options.length ? `, { ${options.join(', ')} }` : ''
    const key = /^[A-Za-z_$][\w$]*$/.test(f.name) ? f.name : `'${f.name}'`
    if (f.proto === undefined) return `${key}: s.jsonField(${text}${tail})`
    return `${key}: s.${isRequired ? 'required' : 'field'}(${f.proto}, ${text}${tail})`
  }

  /** Text of a field table, or a reference to an equal one. */
  function tableText(name, lines, isLocal) {
    const text = `{ ${lines.join(', ')} }`
    if (lines.length < 3) return text
    const group = files.get(file).group ?? ''
    const key = isLocal ? `${file} ${text}` : `${group} ${text}`
    const first = sharedTables.get(key)
    if (first === undefined) {
      sharedTables.set(key, { file, name: camel(name) })
      return text
    }
    if (first.file === file) return `${first.name}.fields`
    const alias = files.get(first.file).version
    imports.set(alias, first.file)
    return `${alias}.${first.name}.fields`
  }

  const makers = new Map()
  /** Name of the function that builds the structs of this file's package. */
  function maker(name, call) {
    makers.set(name, call)
    return name
  }

  const metadataText = 'metadata: s.field(1, meta.objectMeta, { default: {} })'
  const partText = (name) =>
    new RegExp(`^${name === 'spec' ? 'spec: s\\.field\\(2' : 'status: s\\.field\\(3'}, (\\w+), \\{ default: \\{\\} \\}\\)$`)

  function structText(name, type, lines, options, isLocal) {
    const packageName = type.schema ? packageOf(type.schema).replace(/\.\w+$/, '') : schemaPrefix ? packageOf(schemaPrefix) : undefined
    const isOwnPackage = packageName !== undefined && packageName === (schemaPrefix && packageOf(schemaPrefix))
    const rest = options.filter((option) => !/^(typeMeta: true|mapType: 'atomic')$/.test(option))
    const tail = (list) => (list.length ? `, { ${list.join(', ')} }` : '')
    if (
      isOwnPackage &&
      file !== 'meta_v1' &&
      options.includes('typeMeta: true') &&
      lines[0] === metadataText &&
      !options.some((o) => o.startsWith('mapType'))
    ) {
      const [spec, status] = [partText('spec').exec(lines[1] ?? '')?.[1], partText('status').exec(lines[2] ?? '')?.[1]]
      if (rest.length === 0 && lines.length === 3 && spec && status)
        return `${maker('specKind', `specKindsOf('${packageName}')`)}('${name}', ${spec}, ${status})`
      return `${maker('kind', `kindsOf('${packageName}')`)}('${name}', { ${lines.slice(1).join(', ')} }${tail(rest)})`
    }
    const table = tableText(name, lines, isLocal)
    if (isOwnPackage && options.includes("mapType: 'atomic'") && rest.length === 0 && options.length === 1)
      return `${maker('atomic', `s.atomicStructsOf('${packageName}')`)}('${name}', ${table})`
    const builder = isOwnPackage
      ? maker('struct', `s.structsOf('${packageName}')`)
      : packageName
        ? `s.structsOf('${packageName}')`
        : 's.struct'
    return `${builder}('${name}', ${table}${tail(options)})`
  }

  function emit(name) {
    if (emitted.has(name)) return
    const type = types[name]
    emitting.add(name)
    const lines = []
    let typeMeta = false
    const outer = isLocal
    isLocal = false
    for (const f of type.fields ?? []) {
      if (f.protoOnly) continue
      if (f.inline && f.jsonOnly) typeMeta = true
      else if (f.inline) lines.push(`...s.embed(${f.proto ?? 0}, ${node(f.type)})`)
      else lines.push(fieldText(f))
    }
    const isOwnLocal = isLocal
    isLocal = outer
    emitting.delete(name)
    emitted.add(name)
    const options = []
    if (type.mapType) options.push(`mapType: '${type.mapType}'`)
    if (typeMeta) options.push('typeMeta: true')
    if (type.noProto) options.push('noProto: true')
    if (type.unions) options.push(`unions: [${type.unions.map(unionText).join(', ')}]`)
    const inList = inListOf(types[`${name}List`])
    if (inList.length) options.push(`inList: { ${inList.join(', ')} }`)
    const annotation = recursive.has(name) ? ': s.StructNode' : ''
    const alias = namedTypes.has(name) ? `export type ${name} = Infer<typeof ${camel(name)}>\n` : ''
    declarations.push(`export const ${camel(name)}${annotation} = ${structText(name, type, lines, options, isOwnLocal)}\n${alias}`)
  }

  for (const [name, type] of Object.entries(types)) {
    if (type.jsonForm || !type.fields) continue
    if (/List$/.test(name) && type.gvk) continue // The codec writes lists around their items.
    emit(name)
  }
  const path = pathOf(file)
  const up = '../'.repeat(path.split('/').length - 4)
  const kindMakers = ['kindsOf', 'specKindsOf'].filter((make) => [...makers.values()].some((call) => call.startsWith(make)))
  const body = declarations.join('\n')
  const header = [
    `// Schemas of ${path.replace(/^packages.api.src.(resources.)?/, '').replace('.schema.ts', '')}, generated by scripts/generate-schemas.mjs from a type catalogue of Kubernetes 1.26. Do not edit.`,
    '',
    ...(kindMakers.length ? [`import { ${kindMakers.join(', ')} } from '${up}api/definition/kind-schema.js'`] : []),
    ...(body.includes('Infer<') ? [`import type { Infer } from '${up}schema/infer.js'`] : []),
    `import * as s from '${up}schema/node.js'`,
    ...[...imports].flatMap(([alias, homeFile]) =>
      body.includes(`${alias}.`) ? [`import * as ${alias} from '${importPath(path, pathOf(homeFile))}'`] : [],
    ),
    '',
    ...[...makers].map(([name, call]) => `const ${name} = ${call}`),
  ]
  const text = `${header.join('\n')}\n\n${body}`
  if (/cluster\.io/.test(text)) console.error(`${path} spells an identity`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** True for served groups, and for types that are only sent but have Protobuf numbers, such as reviews. */
const isTranscribed = (name, data) =>
  name === 'meta_v1' ||
  (data.served && data.resources?.length) ||
  (name !== 'meta_v1beta1' && Object.values(data.types).some((type) => type.fields?.some((f) => f.proto !== undefined)))
const transcribed = [...files].filter(([name, data]) => isTranscribed(name, data)).map(([name]) => name)
for (const name of transcribed.sort((a, b) => rankOf(b) - rankOf(a))) transcribe(name)
