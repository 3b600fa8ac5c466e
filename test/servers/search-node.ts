// Starts a real OpenSearch or Elasticsearch from the jars that test/setup.sh fetched: the server's own node and HTTP
// module, run by a few lines of Java that also ask for a login, because neither's free core does.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  findProgram,
  freePort,
  missingPrograms,
  serverBin,
  serverDirectory,
  startServer,
  versionDirectories,
  waitForServer,
} from '../support/servers.ts'
import type { RunningServer } from './conformance.ts'

export type Vendor = 'opensearch' | 'elasticsearch'

const PASSWORD = 'p:@/ "\\é%41'
const jarsOf = (vendor: Vendor) => versionDirectories(join(serverBin, '..', 'jars', vendor), '')[0]

export function missingNode(vendor: Vendor): string | undefined {
  return missingPrograms({
    [`${vendor} jars`]: jarsOf(vendor),
    javac: findProgram('javac'),
    curl: findProgram('curl'),
  })
}

const source = (vendor: Vendor) => `
import java.util.*;
import java.util.function.UnaryOperator;
import org.${vendor}.common.settings.Settings;
import org.${vendor}.common.util.concurrent.ThreadContext;
import org.${vendor}.node.InternalSettingsPreparer;
import org.${vendor}.node.Node;
import org.${vendor}.plugins.ActionPlugin;
import org.${vendor}.plugins.Plugin;
import org.${vendor}.rest.*;
import org.${vendor}${vendor === 'opensearch' ? '.core' : ''}.rest.RestStatus;
import org.${vendor}.transport.Netty4Plugin;

public class SearchNode extends Node {
  public static class Login extends Plugin implements ActionPlugin {
    public UnaryOperator<RestHandler> getRestHandlerWrapper(ThreadContext context) {
      return handler -> (request, channel, client) -> {
        if (System.getenv("LOGIN").equals(request.header("Authorization"))) handler.handleRequest(request, channel, client);
        else channel.sendResponse(new BytesRestResponse(RestStatus.UNAUTHORIZED, "no such login"));
      };
    }
  }
  SearchNode(Settings settings) {
    super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "one"), List.of(Netty4Plugin.class, Login.class), true);
  }
  public static void main(String[] home) throws Exception {
    Settings.Builder settings = Settings.builder().put("path.home", home[0]);
    for (int i = 1; i < home.length; i += 2) settings.put(home[i], home[i + 1]);
    Node node = new SearchNode(settings.build());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> { try { node.close(); } catch (Exception error) { } }));
    node.start();
    Thread.currentThread().join();
  }
}
`

export async function startNode(vendor: Vendor): Promise<RunningServer> {
  const directory = serverDirectory()
  const file = join(directory, 'SearchNode.java')
  mkdirSync(join(directory, 'config'))
  writeFileSync(file, source(vendor))
  const [http, transport] = [await freePort(), await freePort()]
  const settings = {
    'cluster.name': 'penv-test',
    'node.name': 'one',
    'network.host': '127.0.0.1',
    'http.port': `${http}`,
    'http.type': 'netty4',
    'transport.port': `${transport}`,
    'transport.type': 'netty4',
    'discovery.type': 'single-node',
    'cluster.routing.allocation.disk.threshold_enabled': 'false',
    'path.data': join(directory, 'data'),
    'path.logs': join(directory, 'logs'),
  }
  const login = `Basic ${Buffer.from(`elastic:${PASSWORD}`).toString('base64')}`
  const node = startServer(
    findProgram('java') ?? '',
    [
      '-Xmx384m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      '-cp',
      join(jarsOf(vendor) ?? '', '*'),
      file,
      directory,
      ...Object.entries(settings).flat(),
    ],
    { directory, env: { LOGIN: login } },
  )
  const address = `127.0.0.1:${http}`
  const headers = { authorization: login }
  let version = ''
  await waitForServer(node, vendor, async () => {
    try {
      const answer = await fetch(`http://${address}/`, { headers })
      const { version: found } = (await answer.json()) as { version: { number: string } }
      version = found.number
      return answer.status === 200
    } catch {
      return false
    }
  })
  return {
    version: `${vendor} ${version}`,
    address,
    env: { ELASTICSEARCH_URL: `http://${address}/`, ELASTICSEARCH_PASSWORD: PASSWORD },
    password: PASSWORD,
    wrongEnv: { ELASTICSEARCH_PASSWORD: 'not-the-one' },
    stop: () => node.stop(),
  }
}

/** One request as an application makes it; the parsed answer, undefined for 404. */
export async function ask(
  server: RunningServer,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await fetch(`http://${server.address}/${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`elastic:${PASSWORD}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (answer.status === 404) return undefined
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
