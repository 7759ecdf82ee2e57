// The body of a request in any of the formats, as an object of the expected kind.

import { type DecodedObject, decodeJsonObject, type ExpectedType, shapeObject, unrecognized } from './decode-object.js'
import type { Format } from './negotiation.js'
import { decodeProtobufObject } from './protobuf.js'
import { readYaml, type YamlDocument } from './yaml/read-yaml.js'
import { YamlError } from './yaml/yaml-error.js'

export function decodeBody(format: Format, bytes: Uint8Array, expected: ExpectedType): DecodedObject {
  switch (format) {
    case 'json':
      return decodeJsonObject(bytes, expected)
    case 'yaml':
      return shapeObject(parseYamlBody(bytes, expected), bytes, expected)
    case 'protobuf':
      return decodeProtobufObject(bytes, expected)
  }
}

function parseYamlBody(bytes: Uint8Array, expected: ExpectedType): YamlDocument {
  try {
    return readYaml(new TextDecoder().decode(bytes))
  } catch (thrown) {
    if (thrown instanceof YamlError) throw unrecognized(thrown.message, bytes, expected)
    throw thrown
  }
}
