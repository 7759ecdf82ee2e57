// Signatures of the CEL functions of Kubernetes 1.26: CEL standard library, strings, lists, regular expressions and URLs.

import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  stringType,
  type Type,
  timestampType,
  uintType,
  urlType,
} from './types.js'

export interface Overload {
  readonly id: string
  readonly isMember: boolean
  readonly parameters: readonly Type[]
  readonly result: Type
  readonly isGeneric: boolean
  /** Compares numbers of different types: ignored until the checker enters a macro. */
  readonly isMixed: boolean
}

const typesByText: { readonly [name: string]: Type } = {
  bool: boolType,
  int: intType,
  uint: uintType,
  double: doubleType,
  string: stringType,
  bytes: bytesType,
  timestamp: timestampType,
  duration: durationType,
  dyn: dynType,
  null: nullType,
  url: urlType,
  A: { kind: 'parameter', name: 'A' },
  B: { kind: 'parameter', name: 'B' },
  'list(A)': listOf({ kind: 'parameter', name: 'A' }),
  'list(string)': listOf(stringType),
  'map(A,B)': mapOf({ kind: 'parameter', name: 'A' }, { kind: 'parameter', name: 'B' }),
  'map(string,list(string))': mapOf(stringType, listOf(stringType)),
  'type(A)': { kind: 'type', of: { kind: 'parameter', name: 'A' } },
}

function typeNamed(name: string): Type {
  const element = /^list\((bool|int|uint|double|bytes|timestamp|duration)\)$/.exec(name)?.[1]
  const type = element === undefined ? typesByText[name] : listOf(typesByText[element] as Type)
  if (type === undefined) throw new Error(`there is no type ${name}`)
  return type
}

function parseOverload(line: string): Overload {
  const [id, signature] = line.split(': ') as [string, string]
  const [parameterText, result] = signature.split(' -> ') as [string, string]
  const isMember = parameterText.includes('.')
  const parameters = parameterText.split(/[ .]/).filter((part) => part !== '')
  return {
    id,
    isMember,
    parameters: parameters.map(typeNamed),
    result: typeNamed(result),
    isGeneric: /\b[AB]\b/.test(signature),
    isMixed: /^(?:int|uint|double) (?:int|uint|double) -> bool$/.test(signature) && parameters[0] !== parameters[1],
  }
}

const ordered = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration']
const numbers = ['int', 'uint', 'double']
/** Type names in overload ids, where they differ. */
const ids: { readonly [type: string]: string } = { int: 'int64', uint: 'uint64' }
const idOf = (type: string): string => ids[type] ?? type
const comparisonsOf = (verb: string): string[] => [
  ...ordered.map((type) => `${verb}_${idOf(type)}: ${type} ${type} -> bool`),
  ...numbers.flatMap((a) => numbers.filter((b) => b !== a).map((b) => `${verb}_${idOf(a)}_${idOf(b)}: ${a} ${b} -> bool`)),
]
const arithmeticOf = (verb: string, types: readonly string[]): string[] =>
  types.map((type) => `${verb}_${idOf(type)}: ${type} ${type} -> ${type}`)
const timeParts = ['FullYear', 'Month', 'DayOfYear', 'DayOfMonth', 'Date', 'DayOfWeek', 'Hours', 'Minutes', 'Seconds', 'Milliseconds']
const durationParts: ReadonlySet<string> = new Set(['Hours', 'Minutes', 'Seconds', 'Milliseconds'])
const perElement = (verb: string, types: readonly string[], result?: string): string[] =>
  types.map((type) => `list_${idOf(type)}_${verb}: list(${type}). -> ${result ?? type}`)

/** `id: parameters -> result`; a dot follows the receiver of a member function. */
const signatures: { readonly [name: string]: readonly string[] } = {
  '_?_:_': ['conditional: bool A A -> A'],
  '_&&_': ['logical_and: bool bool -> bool'],
  '_||_': ['logical_or: bool bool -> bool'],
  '!_': ['logical_not: bool -> bool'],
  '@not_strictly_false': ['not_strictly_false: bool -> bool'],
  '_==_': ['equals: A A -> bool'],
  '_!=_': ['not_equals: A A -> bool'],
  '_<_': comparisonsOf('less'),
  '_<=_': comparisonsOf('less_equals'),
  '_>_': comparisonsOf('greater'),
  '_>=_': comparisonsOf('greater_equals'),
  '_+_': [
    ...arithmeticOf('add', [...numbers, 'string', 'bytes']),
    'add_list: list(A) list(A) -> list(A)',
    'add_timestamp_duration: timestamp duration -> timestamp',
    'add_duration_timestamp: duration timestamp -> timestamp',
    'add_duration_duration: duration duration -> duration',
  ],
  '_-_': [
    ...arithmeticOf('subtract', numbers),
    'subtract_timestamp_timestamp: timestamp timestamp -> duration',
    'subtract_timestamp_duration: timestamp duration -> timestamp',
    'subtract_duration_duration: duration duration -> duration',
  ],
  '_*_': arithmeticOf('multiply', numbers),
  '_/_': arithmeticOf('divide', numbers),
  '_%_': arithmeticOf('modulo', ['int', 'uint']),
  '-_': ['negate_int64: int -> int', 'negate_double: double -> double'],
  '_[_]': ['index_list: list(A) int -> A', 'index_map: map(A,B) A -> B'],
  '@in': ['in_list: A list(A) -> bool', 'in_map: A map(A,B) -> bool'],
  size: ['string', 'bytes', 'list(A)', 'map(A,B)'].flatMap((type) => [
    `${type.replace(/\(.*/, '')}_size: ${type}. -> int`,
    `size_${type.replace(/\(.*/, '')}: ${type} -> int`,
  ]),
  type: ['type: A -> type(A)'],
  dyn: ['to_dyn: A -> dyn'],
  int: ['int64', 'uint64', 'double', 'string', 'timestamp', 'duration'].map((from) => `${from}_to_int64: ${from.replace('64', '')} -> int`),
  uint: ['uint64', 'int64', 'double', 'string'].map((from) => `${from}_to_uint64: ${from.replace('64', '')} -> uint`),
  double: ['double', 'int64', 'uint64', 'string'].map((from) => `${from}_to_double: ${from.replace('64', '')} -> double`),
  bool: ['bool_to_bool: bool -> bool', 'string_to_bool: string -> bool'],
  string: ['string', 'bool', 'int64', 'uint64', 'double', 'bytes', 'timestamp', 'duration'].map(
    (from) => `${from}_to_string: ${from.replace('64', '')} -> string`,
  ),
  bytes: ['bytes_to_bytes: bytes -> bytes', 'string_to_bytes: string -> bytes'],
  timestamp: ['timestamp', 'string', 'int64'].map((from) => `${from}_to_timestamp: ${from.replace('64', '')} -> timestamp`),
  duration: ['duration', 'string', 'int64'].map((from) => `${from}_to_duration: ${from.replace('64', '')} -> duration`),
  contains: ['contains_string: string.string -> bool'],
  startsWith: ['starts_with_string: string.string -> bool'],
  endsWith: ['ends_with_string: string.string -> bool'],
  matches: ['matches_string: string.string -> bool'],
  ...Object.fromEntries(
    timeParts.map((part) => [
      `get${part}`,
      [
        `timestamp_to_${part}: timestamp. -> int`,
        `timestamp_to_${part}_with_tz: timestamp.string -> int`,
        ...(durationParts.has(part) ? [`duration_to_${part}: duration. -> int`] : []),
      ],
    ]),
  ),
  charAt: ['string_char_at_int: string.int -> string'],
  lowerAscii: ['string_lower_ascii: string. -> string'],
  upperAscii: ['string_upper_ascii: string. -> string'],
  replace: [
    'string_replace_string_string: string.string string -> string',
    'string_replace_string_string_int: string.string string int -> string',
  ],
  split: ['string_split_string: string.string -> list(string)', 'string_split_string_int: string.string int -> list(string)'],
  substring: ['string_substring_int: string.int -> string', 'string_substring_int_int: string.int int -> string'],
  trim: ['string_trim: string. -> string'],
  join: ['list_join: list(string). -> string', 'list_join_string: list(string).string -> string'],
  indexOf: [
    'string_index_of_string: string.string -> int',
    'string_index_of_string_int: string.string int -> int',
    'list_a_index_of_int: list(A).A -> int',
  ],
  lastIndexOf: [
    'string_last_index_of_string: string.string -> int',
    'string_last_index_of_string_int: string.string int -> int',
    'list_a_last_index_of_int: list(A).A -> int',
  ],
  isSorted: perElement('is_sorted_bool', ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'], 'bool'),
  sum: perElement('sum', ['int', 'uint', 'double', 'duration']),
  max: perElement('max', ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']),
  min: perElement('min', ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']),
  find: ['string_find_string: string.string -> string'],
  findAll: ['string_find_all_string: string.string -> list(string)', 'string_find_all_string_int: string.string int -> list(string)'],
  url: ['string_to_url: string -> url'],
  isURL: ['is_url_string: string -> bool'],
  getScheme: ['url_get_scheme: url. -> string'],
  getHost: ['url_get_host: url. -> string'],
  getHostname: ['url_get_hostname: url. -> string'],
  getPort: ['url_get_port: url. -> string'],
  getEscapedPath: ['url_get_escaped_path: url. -> string'],
  getQuery: ['url_get_query: url. -> map(string,list(string))'],
}

const parsedOverloads = new Map<string, readonly Overload[]>()

export function overloadsOf(name: string): readonly Overload[] | undefined {
  const found = parsedOverloads.get(name)
  if (found !== undefined) return found
  if (!Object.hasOwn(signatures, name)) return undefined
  const overloads = (signatures[name] as readonly string[]).map(parseOverload)
  parsedOverloads.set(name, overloads)
  return overloads
}

const typeNames: { readonly [name: string]: Type } = {
  bool: boolType,
  int: intType,
  uint: uintType,
  double: doubleType,
  string: stringType,
  bytes: bytesType,
  list: listOf(dynType),
  map: mapOf(dynType, dynType),
  null_type: nullType,
  'google.protobuf.Timestamp': timestampType,
  'google.protobuf.Duration': durationType,
}

/** Type of a type name, such as `int` in `type(x) == int`. */
export const typeOfName = (name: string): Type | undefined => {
  if (name === 'type') return { kind: 'type', of: undefined }
  return Object.hasOwn(typeNames, name) ? { kind: 'type', of: typeNames[name] as Type } : undefined
}
