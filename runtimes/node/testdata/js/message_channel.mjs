import { MessageChannel as Channel, receiveMessageOnPort, MessagePort as Port } from 'node:worker_threads';
// until gives a promise of the moment at which a condition holds.
const until = async (holds) => { while (!holds()) await new Promise((r) => setImmediate(r)); };
export default async function () {
  console.log(Channel === MessageChannel, Port === MessagePort, typeof BroadcastChannel, typeof MessageEvent);
  const { port1, port2 } = new MessageChannel();
  const got = [];
  port2.onmessage = (e) => got.push(`web ${JSON.stringify(e.data)} ${e.type} ${e instanceof Event} ${e.target === port2}`);
  port1.postMessage({ a: [1, new Date(0)] });
  port1.postMessage('two');
  got.push('after post');
  await until(() => got.length === 3);
  console.log(got);

  const c = new MessageChannel();
  c.port1.postMessage(1);
  c.port1.postMessage(undefined);
  console.log(receiveMessageOnPort(c.port2), receiveMessageOnPort(c.port2), receiveMessageOnPort(c.port2));
  const node = [];
  c.port2.on('message', (m) => node.push(m));
  c.port2.once('message', (m) => node.push(`once ${m}`));
  c.port1.on('close', () => node.push('close 1'));
  c.port2.on('close', () => node.push('close 2'));
  for (const m of ['a', 'b']) c.port1.postMessage(m);
  await until(() => node.length === 3);
  console.log(node, c.port2.listenerCount('message'));
  const buffer = new Uint8Array([1, 2, 3]).buffer;
  c.port1.postMessage(buffer, [buffer]);
  console.log(buffer.byteLength);
  await until(() => node.length === 4);
  console.log(node.at(-1).byteLength);
  for (const bad of [() => c.port1.postMessage(() => {}), () => c.port1.postMessage(), () => new MessagePort(), () => c.port1.postMessage(Symbol('s'))]) {
    try { bad(); console.log('no error'); } catch (e) { console.log(e.name, e.code, e instanceof Error); }
  }
  node.length = 0;
  c.port1.postMessage('last');
  c.port1.close();
  c.port1.postMessage('never');
  await until(() => node.length === 3);
  console.log(node.slice().sort());

  const [x, y, z, other] = ['n', 'n', 'n', 'm'].map((name) => new BroadcastChannel(name));
  const heard = [];
  for (const [name, channel] of Object.entries({ x, y, z, other })) channel.onmessage = (e) => heard.push(`${name} ${e.data}`);
  x.postMessage('hi');
  await until(() => heard.length === 2);
  z.close();
  y.postMessage('again');
  await until(() => heard.length === 3);
  console.log(heard.sort(), x.name);
  try { z.postMessage('x'); } catch (e) { console.log(e.name); }
  for (const channel of [x, y, other]) channel.close();
  port1.close();
}
